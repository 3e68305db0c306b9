# SPDX-License-Identifier: GPL-3.0-or-later
#
# Draws rollout.png: velocity of the solver and of the network that has fed on itself for 200 steps,
# and the error; how it has grown; both velocities at a point of the wake. Run by Allrun in the case
# folder; docs/images/rollout.png is a copy.

forecast = "runs/forecast/postProcessing"
grid = system("ls ".forecast."/sampleFields/*/grid_U_URollout.xy")
growth = system("ls ".forecast."/rollout/*/rollout.dat")
solver = system("ls ".forecast."/wake/*/U")
network = system("ls ".forecast."/wake/*/URollout")

set terminal pngcairo size 1500,800 font "DejaVuSans,11"
set output "rollout.png"
set multiplot

# ---- velocity, a row per component

# The points of the grid that lie in the cylinder are missing in the file: x y and NaN for them
fields = "< awk 'function key(x, y) { return sprintf(\"%.0f %.0f\", 20*x + 40, 20*y + 60) } \
    { value[key($1, $2)] = $4 \" \" $5 \" \" $7 \" \" $8 } \
    END { for (y = -2.95; y < 2.98; y += 0.05) for (x = -1.95; x < 13.98; x += 0.05) \
        print x, y, (key(x, y) in value) ? value[key(x, y)] : \"NaN NaN NaN NaN\" }' ".grid

left(i) = 0.045 + 0.275*i + (i == 2)*0.06
bottom(row) = row == 0 ? 0.765 : 0.515
limit(row, i) = i == 2 ? 0.2 : row == 0 ? 0.8 : 0.6
middle(row, i) = row == 0 && i < 2 ? 0.6 : 0
shown(i, U, prediction) = i == 0 ? U : i == 1 ? prediction : prediction - U
component(row) = word("U_x U_y", row + 1)

signed = "(-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 '#b2182b')"
upward = "(0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')"

set style fill solid noborder
set object 1 circle at 0,0 size 0.5 front fillcolor rgb "#555555" fillstyle solid noborder
set xrange [-2:14]
set yrange [-3:3]
set xtics 0,2,12
set ytics 2
set tics scale 0.5
unset key

do for [row = 0:1] {
    do for [i = 0:2] {
        set lmargin at screen left(i)
        set rmargin at screen left(i) + 0.26
        set bmargin at screen bottom(row)
        set tmargin at screen bottom(row) + 0.183
        set title component(row)." in m/s: ".word("solver network error", i + 1) offset 0,-0.4
        set xlabel row == 0 ? "" : "x in m" offset 0,0.4
        set ylabel i == 0 ? "y in m" : "" offset 1.5,0
        set format x row == 0 ? "" : "%g"
        set format y i == 0 ? "%g" : ""

        if (i == 0) { unset colorbox } else {
            set colorbox user origin screen left(i) + 0.267, bottom(row) size screen 0.01, 0.183 }
        set cbrange [middle(row, i) - limit(row, i):middle(row, i) + limit(row, i)]
        set cbtics limit(row, i)/2
        eval "set palette defined ".(row == 0 && i < 2 ? upward : signed)

        plot fields using 1:2:(shown(i, column(3 + row), column(5 + row))) with image
    }
}
unset object 1

# ---- growth, and the wake

set format "%g"
set grid lc rgb "#dddddd"
set tmargin at screen 0.38
set bmargin at screen 0.085
set xrange [0:200]
set xtics 25
set xlabel "steps; 159 are a period" offset 0,0
set ylabel "" offset 0,0
set key top left Left reverse
set style line 1 lw 2 lc rgb "#222222"
set style line 2 lw 2 lc rgb "#d1495b"
set style line 3 lw 2 lc rgb "#8fbfe0"

set lmargin at screen 0.045
set rmargin at screen 0.475
set title "Relative L2 error of U in percent"
set yrange [0:50]
set ytics 10
plot growth using 2:(100*column(7)) with lines ls 3 title "persistence", \
     growth using 2:(100*column(5)) with lines ls 2 title "network", \
     10 with lines dt 2 lc rgb "#222222" title "bound of Allrun"

set lmargin at screen 0.535
set rmargin at screen 0.97
set title "U_y at x = 4 m, y = 0, in m/s"
set yrange [-0.7:1.0]
set ytics -0.6,0.3
row(file) = sprintf("< tr -d '()' < %s | grep -v '^#'", file)
plot row(solver) using 0:3 with lines ls 1 title "solver", \
     row(network) using 0:3 with lines ls 2 title "network"
unset multiplot
