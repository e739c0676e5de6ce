"""Small MJCF models, written for the tests."""

#: Several joints on one body, at places of their own, with refs; a ball and a free joint; defaults; springs and armatures.
ZOO = """
<mujoco model="zoo">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <geom density="700"/>
    <joint damping="0.1"/>
    <default class="stiff"><joint stiffness="3" springref="0.2" armature="0.01" range="-1 2"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <site name="mark" pos="0 0 1"/>
    <body name="trunk" pos="0.5 0 1" quat="1 .2 .3 .1">
      <freejoint name="base"/>
      <geom name="egg" type="ellipsoid" size=".1 .2 .3" pos=".01 .02 .03"/>
      <body name="arm" pos=".1 .2 .3" euler=".1 .2 .3">
        <joint name="turn" axis="1 1 0" pos=".1 0 .2" ref=".3" class="stiff"/>
        <joint name="push" type="slide" axis="0 1 1" ref="-.1"/>
        <joint name="twist" axis="0 0 1" pos="0 .3 0"/>
        <geom type="capsule" size=".05 .2" contype="0" conaffinity="0"/>
        <site name="tool" pos="0 0 .3" quat="0 1 0 0"/>
        <body name="hand" pos="0 0 .4">
          <joint name="wrist" type="ball" pos="0 .1 .2" range="0 1"/>
          <geom type="box" size=".1 .05 .02" euler=".3 .2 .1"/>
        </body>
      </body>
      <body name="case" pos="0 0 -.3"><geom type="cylinder" size=".05 .1" group="3"/></body>
    </body>
    <body name="cart"><joint name="rail" type="slide" axis="1 0 0"/><geom size=".1"/>
      <body name="bob" pos="0 0 -.5"><joint name="hinge" axis="0 1 0" pos="0 0 .5"/><geom size=".1"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="hand" body2="cart"/></contact>
  <keyframe><key name="up" qpos="0 0 2 1 0 0 0 .5 .1 .2 1 0 0 0 .4 3" qvel="1 0 0 0 0 2 0 0 0 0 0 0 0 4"/></keyframe>
</mujoco>
"""

#: Every equality constraint that has a counterpart here, and two that have not; all are closed in the posture of the file.
TIED = """
<mujoco model="tied">
  <worldbody>
    <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="20"/><geom size=".1" pos=".5 0 0"/>
      <body name="b" pos="1 0 0" euler="10 20 30"><joint name="jb" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/>
        <site name="sb" pos=".2 .1 0" euler="30 0 0"/></body></body>
    <body name="c" pos="0 2 1"><freejoint name="jc"/><geom size=".1" pos="0 .1 0"/></body>
    <body name="d" pos="0 3 1"><joint name="jd1" axis="1 0 0"/><joint name="jd2" axis="0 1 0"/>
      <geom size=".1" pos="0 .1 .1"/></body>
    <body name="e" pos="0 4 1"><joint name="je1" type="slide" axis="1 0 0" ref=".1"/><joint name="je2" axis="0 1 0" ref="30"/>
      <geom size=".1" pos="0 .1 .1"/></body>
    <body name="f" pos="0 5 1"><joint name="jf" axis="1 0 0" ref="10"/><geom size=".1" pos="0 .1 .1"/></body>
    <site name="s0" pos="1 2 3"/>
  </worldbody>
  <tendon>
    <fixed name="sum"><joint joint="je1" coef="2"/><joint joint="je2" coef="-3"/></fixed>
    <fixed name="all"><joint joint="je1" coef="2"/><joint joint="jb" coef="-3"/><joint joint="jf" coef="1"/></fixed>
  </tendon>
  <equality>
    <connect name="pin" body1="b" body2="c" anchor=".3 .2 .1"/>
    <weld name="glue" body1="c" body2="d" anchor=".1 .2 .3"/>
    <weld name="plate" site1="sb" site2="s0"/>
    <joint name="gear" joint1="jd1" joint2="jd2" polycoef="0.1 2 0 0 0"/>
    <joint name="held" joint1="jf" polycoef="0.2 0 0 0 0"/>
    <tendon name="belt" tendon1="sum" polycoef="0.4 0 0 0 0"/>
    <joint name="cam" joint1="ja" joint2="jb" polycoef="0 1 2 0 0"/>
    <tendon name="three" tendon1="all"/>
    <connect name="off" body1="b" body2="d" anchor="0 0 0" active="false"/>
  </equality>
</mujoco>
"""

#: One of everything that is not simulated, one on each line.
UNREAD = """<mujoco model="unread">
<option density="1.2"/>
<custom>
<numeric name="number" data="1"/>
<text name="word" data="x"/>
<tuple name="list"><element objtype="body" objname="a"/></tuple>
</custom>
<asset>
<texture name="paint" type="2d" builtin="flat" width="8" height="8"/>
</asset>
<worldbody>
<light name="lamp"/>
<body name="a" gravcomp="1">
<camera name="eye"/>
<joint name="ball" type="ball" stiffness="2"/>
<geom name="stone" size=".1" condim="4"/>
<site name="s"/>
</body>
<body name="b" pos="0 0 1">
<joint name="slide" type="slide"/>
<geom name="block" size=".1"/>
<site name="t"/>
</body>
<body name="m" mocap="true" pos="0 0 2">
<geom name="ghost" size=".1"/>
</body>
<body name="cloth" pos="0 0 3">
<flexcomp name="sheet" type="grid" count="3 3 1" spacing=".1 .1 .1" mass=".1" radius=".01" dim="2"/>
</body>
</worldbody>
<tendon>
<spatial name="rope"><site site="s"/><site site="t"/></spatial>
<fixed name="spring" stiffness="3"><joint joint="slide" coef="1"/></fixed>
</tendon>
<contact>
<pair name="both" geom1="stone" geom2="block"/>
</contact>
<actuator>
<muscle name="biceps" tendon="rope" lengthrange="0 1"/>
</actuator>
<sensor>
<jointpos name="gauge" joint="slide"/>
</sensor>
</mujoco>
"""

#: Actuators that are drives here, one for each joint, and then those that are not.
DRIVEN = """<mujoco model="driven">
<worldbody>
<body name="a"><joint name="motor" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
<body name="b"><joint name="position" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
<body name="c"><joint name="velocity" type="slide" axis="0 0 1"/><geom size=".1" pos=".3 0 0"/>
<body name="d"><joint name="general" axis="1 0 0" actuatorfrcrange="-9 9" armature="0.2"/><geom size=".1" pos=".3 .1 0"/>
<body name="e"><joint name="free" axis="0 1 0"/><joint name="odd" axis="0 0 1"/><geom size=".1" pos=".3 .1 0"/>
</body></body></body></body></body>
</worldbody>
<tendon>
<fixed name="cord"><joint joint="free" coef="1"/></fixed>
</tendon>
<actuator>
<motor name="m" joint="motor" gear="5" ctrlrange="-2 1"/>
<position name="p" joint="position" kp="10" kv="2" gear="3" armature=".5" damping=".7" forcerange="-4 4"/>
<velocity name="v" joint="velocity" kv="6" gear="-2"/>
<general name="g" joint="general" gainprm="4" biastype="affine" biasprm="1 -3 -0.5"/>
<motor name="second" joint="motor"/>
<motor name="pull" tendon="cord"/>
<muscle name="muscle" joint="free" lengthrange="0 1"/>
<intvelocity name="integrated" joint="free" kp="3" actrange="-1 1"/>
<general name="pushing" joint="odd" biastype="affine" biasprm="0 3 0"/>
</actuator>
</mujoco>
"""
