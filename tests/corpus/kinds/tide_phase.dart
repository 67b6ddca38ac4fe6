library tides;

import 'dart:math' as math;

const double lunarDay = 24.84;
typedef TideCallback = void Function(TidePhase phase);

enum TidePhase implements Comparable<TidePhase> {
  ebb(-1, label: 'falling'),
  flood(1, label: 'rising');

  const TidePhase(this.direction, {required this.label});
  final int direction;
  final String label;

  bool get isRising => direction > 0;

  @override
  int compareTo(TidePhase other) => direction - other.direction;

  static TidePhase at(double hour) =>
      math.sin(hour / lunarDay) > 0 ? flood : ebb;
}

mixin Logged on Object {
  void logLine(String s) => print(s);
}

abstract class Gauge with Logged {
  factory Gauge.fromJson(Map<String, dynamic> json) = WaterGauge.fromJson;
  Future<double> readLevel();
  set offset(double v) {}
}

extension on double { double get inFeet => this * 3.28; }
extension TideMath on DateTime {
  Duration untilHigh() => const Duration(hours: 3);
}

void main() => print(TidePhase.at(3));
