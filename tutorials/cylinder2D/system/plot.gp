# SPDX-License-Identifier: GPL-3.0-or-later
#
# Draws cylinder.png: loss and skill of both legs over the samples; velocity across the stream at
# the end, what the network had expected of it, and the error. Run by Allrun in the case folder;
# docs/images/cylinder.png is a copy.

legs = "postProcessing/surrogate/0/training.dat postProcessing/surrogate/31.25/training.dat"
fields = system("ls postProcessing/sampleFields/*/grid_U_UError_UPredicted.xy | tail -n 1")

set terminal png size 1200,660 font "DejaVuSans,10"
set output "cylinder.png"
set datafile separator "\t"
set datafile commentschars ""       # names of columns stand in a line with #
set multiplot

set grid lc rgb "#dddddd"
set xlabel "samples"
set xrange [0:2200]

set lmargin at screen 0.06
set rmargin at screen 0.43

set tmargin at screen 0.94
set bmargin at screen 0.62
set title "Loss"
set logscale y
set format y "10^{%T}"
plot word(legs, 1) using "samples":"loss" with lines lw 2 lc rgb "#1b6ca8" title "first leg", \
     word(legs, 2) using "samples":"loss" with lines lw 2 lc rgb "#d1495b" title "restarted"
unset logscale y

set tmargin at screen 0.47
set bmargin at screen 0.10
set title "Skill: 1 - MSE/MSE of persistence, each sample predicted before it is learnt"
set format y "%.1f"
set yrange [0:1]
set key bottom right horizontal width 1
plot word(legs, 1) using "samples":"skill(U)" with lines lw 2 lc rgb "#1b6ca8" title "U", \
     word(legs, 1) using "samples":"skill(p)" with lines lw 2 lc rgb "#8fbfe0" title "p", \
     word(legs, 2) using "samples":"skill(U)" with lines lw 2 lc rgb "#d1495b" title "U, restarted", \
     word(legs, 2) using "samples":"skill(p)" with lines lw 2 lc rgb "#efa8b1" title "p, restarted"

set datafile separator whitespace
set datafile commentschars "#"
unset grid
unset xlabel
unset key
unset title
set size ratio -1
set xrange [-2:10]
set yrange [-2.4:2.4]
set format y "%g"
set xtics 2
set ytics 2
set palette defined (-1 "#2166ac", -0.5 "#92c5de", 0 "#f7f7f7", 0.5 "#f4a582", 1 "#b2182b")
set style fill solid noborder
set object circle at 0,0 size 0.5 front fillcolor rgb "#555555" fillstyle solid noborder

set lmargin at screen 0.50
set rmargin at screen 0.92

set cbrange [-0.6:0.6]
set format x ""
set tmargin at screen 0.98
set bmargin at screen 0.69
set label 1 "U_y" at graph 0.02,0.9 front
plot fields using 1:2:(0.026):(0.026):5 with boxxyerror linecolor palette

set tmargin at screen 0.67
set bmargin at screen 0.38
set label 1 "U_y expected 8 steps before"
plot fields using 1:2:(0.026):(0.026):11 with boxxyerror linecolor palette

set cbrange [-0.06:0.06]
set format x "%g"
set tmargin at screen 0.36
set bmargin at screen 0.07
set label 1 "error, on a scale ten times as fine"
plot fields using 1:2:(0.026):(0.026):8 with boxxyerror linecolor palette

unset multiplot
