#version 330 core
#define WAVE_COUNT 4
#define saturate(x) clamp(x, 0.0, 1.0)

in vec2 v_uv;
out vec4 frag_color;

uniform float u_time;
uniform sampler2D u_depth;

layout(std140) uniform Lights {
    vec4 sun_dir;
};

struct Wave {
    vec2 dir;
    float height;
};

const float SHORE = 0.12;

float wave_height(in Wave w, vec2 p) {
    return w.height * sin(dot(w.dir, p) + u_time);
}

vec3 tint(vec3 base, float depth)
{
    return mix(base, vec3(0.0, 0.2, 0.4), saturate(depth));
}

void main() {
    float d = texture(u_depth, v_uv).r;
    frag_color = vec4(tint(vec3(1.0), d - SHORE), 1.0);
}
