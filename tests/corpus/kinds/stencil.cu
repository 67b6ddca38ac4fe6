#include <cuda_runtime.h>

#define TILE 16
#define CHECK_CUDA(call) do { check((call), __LINE__); } while (0)

__constant__ float weights[9];

struct GridView {
    float *data;
    int pitch;
    __host__ __device__ float &at(int x, int y) { return data[y * pitch + x]; }
};

static void check(cudaError_t err, int line) {
    if (err != cudaSuccess) printf("%d: %s\n", line, cudaGetErrorString(err));
}

__device__ __forceinline__ float clampf(float v) {
    return fminf(fmaxf(v, 0.f), 1.f);
}

template <int RADIUS>
__global__ void blurKernel(GridView in, GridView out) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    out.at(x, 0) = clampf(tile[0][0] * weights[RADIUS]);
}

__global__ void __launch_bounds__(256)
fillKernel(float *dst, float v)
{
    dst[threadIdx.x] = v;
}

extern "C" int run_blur(float *host, int n) {
    blurKernel<1><<<dim3(n / TILE), dim3(TILE)>>>(GridView{host, n}, GridView{host, n});
    CHECK_CUDA(cudaDeviceSynchronize());
    return 0;
}
