const PARTICLE_COUNT: u32 = 1024u;
override gravity: f32 = 9.81;

alias Velocity = vec2<f32>;

struct Particle {
    @location(0) pos: vec2<f32>,
    vel: Velocity,
}

struct SimParams { dt: f32 }

@group(0) @binding(0) var<uniform> params: SimParams;
@group(0) @binding(1)
var<storage, read_write> particles: array<Particle>;

fn bounce(p: Particle) -> Velocity {
    return select(p.vel, -p.vel, p.pos.y < 0.0);
}

@compute @workgroup_size(64)
fn step_particles(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= PARTICLE_COUNT) { return; }
    particles[i].vel = bounce(particles[i]);
}

@vertex fn vs_main(@builtin(vertex_index) vi: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(particles[vi].pos, 0.0, 1.0);
}
