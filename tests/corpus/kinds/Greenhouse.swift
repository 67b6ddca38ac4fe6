import Foundation

let maxHumidity = 0.95
typealias Reading = (temp: Double, humidity: Double)

protocol Vent: AnyObject {
    associatedtype Motor
    var isOpen: Bool { get set }
    func crank(by turns: Int) throws
}

public final class Greenhouse {
    private(set) var readings: [Reading] = []

    var averageTemp: Double {
        readings.map(\.temp).reduce(0, +) / Double(max(readings.count, 1))
    }

    var label: String {
        get { "house" }
        set { print(newValue) }
    }

    lazy var sprinkler: Sprinkler = Sprinkler()

    init?(path: String) { return nil }
    deinit { print("gone") }

    subscript(i: Int) -> Reading { readings[i] }

    static func == (a: Greenhouse, b: Greenhouse) -> Bool { a === b }
}

struct Sprinkler { @Published var flow = 0 }

enum Alarm: Error { case tooDry, tooHot(Double) }

extension Greenhouse: CustomStringConvertible {
    var description: String { "avg \(averageTemp)" }
}

actor Logger2 { func write(_ s: String) async {} }
