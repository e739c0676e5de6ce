"""The tuned numbers of the solvers of rigid contact: value, unit, meaning, and what chose them.

Studies: *scenes*, `scripts/study random-scenes`; *bricks*, `scripts/study bench scenes` (studies/bench/README.md, "Piles of
bricks"); *limbs*, 8000 impacts of robots with limbs and 4000 piles of three boxes (docs/contact-models.md); *plans*,
`scripts/study bench planning`; *walkers*, `scripts/study gym`. Those without one were set by hand, or are as rounding asks.
"""

from __future__ import annotations

from .laws import STIFF

# --- Newton's methods of both schedules --------------------------------------------------------------------------------------
PROGRESS = 0.9  # part of the residual: a step that leaves more is followed by a weaker one, any other by a stronger one
WEAKER, STRONGER = 1e3, 10.0  # factors of strength
WEAKEST = 10.0  # strength, per mass of a point; a step that increases the residual is undone unless it was this weak
ALIKE = 4  # first steps in which all points of two links are equally stiff, so that undetermined impulses have the least norm
GENTLE, DESCENTS, MOST_AT_ONCE = 1e5, 60, 15  # multipliers: the strength they begin with; their steps; with one set
DESCENT, FLAT, HALVINGS = 1e-4, 1e-15, 24  # parts of slope and value by which a step must descend, or of rounding; its halvings
SETTLED, ROUNDED_BY = 1e-3, 6e-16  # part of the last residual, m/s: a gradient that is enough; times the strength
IMPACTS = 16  # one after another within a step; what is left then happens at once

# --- one robot: `models.rigid`, `impulse.point_by_point` ---------------------------------------------------------------------
ABSOLUTE, RELATIVE = 1e-11, 1e-11  # m/s, and part of the fastest velocity: the residual that is enough
PASSES = 40  # the most Newton steps
PATIENCE, EASE = 8, 4.0  # after so many, each further one multiplies the accepted residual (by up to DOUBT): redundant points
DOUBT = 1e-6  # part of 1 m/s + the fastest velocity                                                                    (limbs)
COARSE, COARSE_DOUBT, COARSE_STIFF = 5e-5, 5e-4, 1e4  # in the places of RELATIVE, DOUBT and STIFF in single precision
EARLY, EVERY = 2, 4  # sweeps follow the step PATIENCE, or EARLY where no link has two points, and then every fourth    (plans)
SWEEPS = 2.5  # for each step so far                                                                                    (limbs)
MOST_SWEEPS = 100
PROJECTIONS = 10  # steps on the law of one point that slides
FEW_FREEDOMS = 18  # robots of more have sweeps alone, as the method of multipliers makes their code 1.4 times as long
ROUGH = 1e-3  # part of the fastest velocity: guesses that leave more are not begun with
SINGULAR = 1e-9  # part of a point's size: added to its inverse inertia, which may be singular
ROUNDING = 1e-9  # part of an impulse
SOFT, SOFT_LOOPS = 10.0 / STIFF, 1e-3  # parts of a velocity: a step with the right modes leaves less, and is repeated
REPEATS, FALLING = 4, 0.1  # at half the cost, so often while each leaves less than this part of the last
FEW, FEWEST_JOINTS = 4, 5  # points solved by themselves, on robots of more degrees of freedom (`impulse.few_points`) (hoap1)
FEW_OF_MANY, MANY_JOINTS = 6, 20  # of more than these, on which six are faster than four, not so on fewer          (walkers)
PASSES_OF_FEW = 12  # Newton steps among them, the last ones for an eased residual: going on to all points costs more (walkers)
WAITS, WAITS_ABOVE = 0.25, 0.1  # part of the fastest velocity, m/s: others wait that miss their targets rightly by    (hoap1)
TURNS_OF_FEW = 4  # until all that wait would be violated are added
LOOP_SWEEPS = 3  # over the impulses of loops

# --- many bodies: `scenes.solvers`, by the order in which an island meets them ------------------------------------------------
ACCEPTED, ACCEPTED_OF_SPEED = 1e-10, 1e-10  # m/s, part: old impulses are kept below; others are improved to ten times less
STEADY = 1e-8  # m/s: below this they belong to bodies at rest, or in steady motion
SMALL, CROWD = 20, 100  # bodies: islands of at most so many are small; of more, less is promised
STEPS_OF_SMALL, STEPS_OF_LARGE = 20, 8  # Newton's, which fails more often in large islands                             (bricks)
HOPELESS = 1e-3  # part of the fastest velocity, or m/s: in larger islands a step above this without progress is the last
MANY, NEAR = 40, 0.03  # bodies, part: Newton's method comes first up to so many, or if old impulses miss by less       (bricks)
ROUNDS = 40  # of the interior point method                                                                            (bricks)
INSIDE, END = 0.1, 1e-5  # parts of the fastest velocity: it begins inside the cones by this; ends at √τ                (bricks)
FOLLOW, CALM = 0.8, 0.3  # parts of the slope of the sliding speed: in large islands, after a failure                   (bricks)
SHORT, CRAMPED, STALLED = 0.99, 0.2, 1e-2  # parts of the way to the cones: of a step; next only centers; four end it   (bricks)
SHORT_OF_LOOSE = 0.25  # the same part where the residual may follow the motion                                       (bricks)
ROUNDED = 0.3  # ε of a sticking point, part of √τ
SMOOTH = 1e-6  # friction below which a point has only a normal law
WAITS_OF_OWN, WAITS_OF_ALL = 1.0, 0.1  # parts of closing speeds, of its bodies, of all: what parts faster waits        (bricks)
WAITS_BELOW = 0.01  # part of the speed that gravity gives in a step: and if it carried less per mass                   (bricks)
FOLLOWING, SLOW = 1e-3, 0.005  # part of the speed above this [m/s] that the residual in a large pile may be          (bricks)
LOOSE_END = 0.5  # part of that residual: √τ at which the interior point method ends                                   (bricks)
CLOSE = 9.0  # times its square: τ from which on the residual itself is looked at                                      (bricks)
CREEPING = 1e-3  # m/s: while a large pile moves faster, FOLLOWING of the speeds without contact is not worth all methods
POLISH = 6  # Newton steps after another method
GOOD = 5e-9  # m/s, and part of the fastest velocity: half of what is promised; not worth more                          (scenes)
GOOD_OF_FALL = 5e-7  # part of the speed that gravity gives in a step: the same at more than 1 ms, unless strict        (bricks)
FAIR, MOVING = 2e-7, 2e-6  # m/s, part of the fastest velocity: the same in large islands                               (bricks)
FAIREST, FAIREST_OF_CROWD = 9e-7, 5e-6  # m/s: up to this                                                               (bricks)
LEFT_OUT, STEPS_WITHOUT = 12, 12  # points that are left out, one at a time; Newton steps then, and with all          (scenes)
SLOW_DESCENTS, SLOWLY = 150, 2.0  # steps, growth of the strength from 1 on                                            (scenes)
STALLS, LEVEL = 8, 0.1  # times in which the residual is not halved; part of a slope that is flat
FARTHEST, ALIGNED = 10.0, 0.8  # changes that are looked ahead; cosine of two that are alike
STUCK = 1e-5  # m/s: above this only, multipliers begin slowly in large islands, and again from nothing in small ones   (bricks)
WEDGED = 0.01  # part of the speed that pushes overlaps out: left in if the laws are missed by more than it, or STUCK (scenes)
SHARE = 0.6  # of a point's mass in a sweep: its three velocities per unit impulse are at most three times the largest
REACH = 3.0  # ways of the fastest body in a step: points are looked for within                                         (scenes)
STOPPED = 10.0  # times the points' speeds: velocities that miss the laws by more are not a solution
