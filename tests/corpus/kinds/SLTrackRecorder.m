#import "SLTrackRecorder.h"

static const NSTimeInterval kFlushInterval = 15.0;
NSString *const SLTrackDidFlushNotification = @"SLTrackDidFlush";

static BOOL SLIsUsable(CLLocation *loc) {
    return loc.horizontalAccuracy < 50;
}

@interface SLTrackRecorder ()
@property (nonatomic, strong) NSMutableArray *pending;
@property (nonatomic, weak) NSTimer *flushTimer;
@end

@implementation SLTrackRecorder

@synthesize trackName = _trackName;

+ (instancetype)sharedRecorder {
    static SLTrackRecorder *one;
    static dispatch_once_t token;
    dispatch_once(&token, ^{ one = [[self alloc] init]; });
    return one;
}

- (instancetype)initWithName:(NSString *)name store:(id<SLTrackStore>)store
{
    if ((self = [super init])) {
        _trackName = [name copy];
    }
    return self;
}

- (void)locationManager:(CLLocationManager *)manager
     didUpdateLocations:(NSArray<CLLocation *> *)locations {
    for (CLLocation *loc in locations) {
        if (SLIsUsable(loc)) [self.pending addObject:loc];
    }
}

#pragma mark - Actions

- (IBAction)toggleRecording:(id)sender { [self flush]; }

-(void)flush
{
    [self.pending removeAllObjects];
}

@end
