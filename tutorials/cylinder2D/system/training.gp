# SPDX-License-Identifier: GPL-3.0-or-later
#
# Draws training.png: loss and skill of both legs over the samples. Run by Allrun in the case folder.

legs = "postProcessing/surrogate/0/training.dat postProcessing/surrogate/31.25/training.dat"

set terminal pngcairo size 1200,400 font "DejaVuSans,10"
set output "training.png"
set datafile separator "\t"
set datafile commentschars ""       # names of columns stand in a line with #
set multiplot layout 1,2

set grid lc rgb "#dddddd"
set xlabel "samples"
set xrange [0:2200]

set title "Loss"
set logscale y
set format y "%g"
set yrange [*:2]
set ytics (0.05, 0.1, 0.2, 0.5, 1, 2)
plot word(legs, 1) using "samples":"loss" with lines lw 2 lc rgb "#1b6ca8" title "first leg", \
     word(legs, 2) using "samples":"loss" with lines lw 2 lc rgb "#d1495b" title "restarted"
unset logscale y

set title "Skill: 1 - MSE/MSE of persistence, each sample predicted before it is learnt"
set format y "%.1f"
set ytics 0.2
set yrange [0:1]
set key bottom right horizontal width 1
plot word(legs, 1) using "samples":"skill(U)" with lines lw 2 lc rgb "#1b6ca8" title "U", \
     word(legs, 1) using "samples":"skill(p)" with lines lw 2 lc rgb "#8fbfe0" title "p", \
     word(legs, 2) using "samples":"skill(U)" with lines lw 2 lc rgb "#d1495b" title "U, restarted", \
     word(legs, 2) using "samples":"skill(p)" with lines lw 2 lc rgb "#efa8b1" title "p, restarted"
unset multiplot
