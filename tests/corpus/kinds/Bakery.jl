module Bakery

using Dates
export Loaf, bake!, ferment

const OVEN_MAX = 280.0

abstract type Dough end

struct Loaf{T<:Real} <: Dough
    flour::T
    water::T
end

Base.@kwdef mutable struct Oven
    temp::Float64 = 20.0
end

@enum Crust soft crisp burnt

"""
    hydration(l)
"""
hydration(l::Loaf) = l.water / l.flour

function bake!(o::Oven, l::Loaf; minutes=40)
    o.temp = min(o.temp + minutes, OVEN_MAX)
    return crisp
end

function Base.show(io::IO, l::Loaf)
    print(io, "loaf of ", l.flour)
end

ferment(x::Dough, h::Hour)::Dough where {T} = x

macro timed_bake(ex)
    return :(@time $(esc(ex)))
end

end # module
