#pragma once
#include <memory>
#include <string>

#if defined(_WIN32)
#  define MIXER_API __declspec(dllexport)
#else
#  define MIXER_API __attribute__((visibility("default")))
#endif

namespace audio::mix {

constexpr int kMaxChannels = 32;

enum class MIXER_API Route : unsigned char { Main, Aux };

template <typename Sample>
using Buffer = std::unique_ptr<Sample[]>;

class MIXER_API Channel {
public:
    explicit Channel(std::string name);
    virtual ~Channel() noexcept;

    Channel& operator+=(float gain);
    [[nodiscard]] float level() const { return level_; }
    static std::shared_ptr<Channel> open(const char* device);

private:
    struct Impl;
    float level_ = 0.f;
};

class MIXER_API MasterBus final : public Channel {
public:
    void attach(Channel& c) MIXER_NOEXCEPT;
};

struct MIXER_API Fader { int position; };

MIXER_API void shutdown_all();

}  // namespace audio::mix
