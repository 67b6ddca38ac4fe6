#import <Foundation/Foundation.h>
#import <CoreLocation/CoreLocation.h>

NS_ASSUME_NONNULL_BEGIN

#define SL_MAX_POINTS 5000

@class SLTrack;

extern NSString *const SLTrackDidFlushNotification;

typedef NS_ENUM(NSInteger, SLRecorderState) {
    SLRecorderStateIdle,
    SLRecorderStateRunning,
};

typedef void (^SLFlushHandler)(NSUInteger count, NSError *_Nullable error);

@protocol SLTrackStore <NSObject>
- (BOOL)saveTrack:(SLTrack *)track error:(NSError **)error;
@optional
- (void)storeDidBecomeFull;
@end

@interface SLTrackRecorder : NSObject <CLLocationManagerDelegate>

@property (nonatomic, copy) NSString *trackName;
@property (nonatomic, readonly, getter=isRunning) BOOL running;
@property (nonatomic, copy, nullable) SLFlushHandler onFlush;

+ (instancetype)sharedRecorder;
- (instancetype)initWithName:(NSString *)name store:(id<SLTrackStore>)store;
- (void)flush;

@end

@interface NSString (SLTrackNames)
- (NSString *)sl_fileSafeName;
@end

NS_ASSUME_NONNULL_END
