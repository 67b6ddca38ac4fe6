package require Tcl 8.6
package provide thermostat 1.0

namespace eval ::thermostat {
    variable target 21
    namespace export setTarget

    proc setTarget {degrees} {
        variable target
        set target $degrees
    }
}

proc ::thermostat::report {{fmt "%.1f"}} {
    variable target
    return [format $fmt $target]
}

proc poll_sensor { id args } {
    after 1000 [list poll_sensor $id]
}

oo::class create Heater {
    variable power
    constructor {watts} {
        set power $watts
    }
    method switchOn {} {
        puts "heating with $power"
    }
    destructor { puts bye }
}

set maxHeat 30
bind . <Key-q> { exit }
