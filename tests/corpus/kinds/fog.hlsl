#define MAX_LIGHTS 8
static const float kFogStart = 10.0f;

cbuffer PerFrame : register(b0)
{
    float4x4 viewProj;
    float3 fogColor;
};

Texture2D<float4> diffuseMap : register(t0);
SamplerState linearClamp : register(s0);

struct VSInput
{
    float3 pos : POSITION;
    float2 uv  : TEXCOORD0;
};

struct PSInput { float4 pos : SV_Position; float2 uv : TEXCOORD0; };

float FogFactor(float dist)
{
    return saturate((dist - kFogStart) / 90.0f);
}

PSInput VSMain(VSInput input)
{
    PSInput o;
    o.pos = mul(float4(input.pos, 1), viewProj);
    o.uv = input.uv;
    return o;
}

[numthreads(8, 8, 1)]
void CSBlur(uint3 id : SV_DispatchThreadID) { }

float4 PSMain(PSInput i) : SV_Target { return diffuseMap.Sample(linearClamp, i.uv); }
