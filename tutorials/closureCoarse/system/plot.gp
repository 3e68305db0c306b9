# SPDX-License-Identifier: GPL-3.0-or-later
#
# Draws closure.png: U_x left of the vertical centre line of each cavity, fine, coarse and with the
# closure. Run by Allrun in the case folder with lids, the velocities.

nSide = 20
set terminal png size 1200,420 font "DejaVuSans,10"
set output "closure.png"
set multiplot layout 1,4
set grid lc rgb "#dddddd"
set xlabel "U_x [m/s]"
set ylabel "y [m]"
set yrange [0:1]
set key bottom right

# A row of the file is a cell: those left of the centre line of cavity i, from the bottom up
line(i) = sprintf("< awk 'NR > %d && NR <= %d && NR %% %d == %d' runs/velocities", \
    (i - 1)*nSide**2, i*nSide**2, nSide, nSide/2)
y(row) = (row + 0.5)/nSide

do for [i = 1:4] {
    lid = real(word(lids, i))
    set title sprintf("lid %g m/s, Re %.0f", lid, 1000*lid)
    set xrange [-0.5*lid:0.6*lid]
    set xtics 0.5
    plot line(i) using 1:(y($0)) with lines lw 3 lc rgb "#222222" title "fine", \
         "" using 4:(y($0)) with linespoints pt 6 lc rgb "#d1495b" title "coarse", \
         "" using 7:(y($0)) with linespoints pt 2 lc rgb "#1b6ca8" title "closure"
}
unset multiplot
