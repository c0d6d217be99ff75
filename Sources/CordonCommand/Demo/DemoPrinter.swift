import CordonDemo
import CordonPolicy
import Foundation

/// The demo as a person reads it: a line for each step, its expectations, and what was measured.
enum DemoPrinter {
    static func print(_ step: DemoStep) {
        let mark = step.verdict == "pass" ? Style.green("✓") : Style.red("✗")
        let time = Style.dim(String(format: "%.0f ms", step.milliseconds))
        Terminal.data("\(mark) \(Style.bold(step.title))  \(time)")
        for expectation in step.expectations {
            if expectation.held {
                Terminal.data("    \(expectation.what)")
            } else {
                Terminal.data(Style.red("    NOT MET: \(expectation.what) (seen: \(expectation.seen))"))
            }
        }
        if !step.facts.isEmpty {
            let facts = step.facts.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }
            Terminal.data(Style.dim("    measured: " + facts.joined(separator: ", ")))
        }
    }

    static func printEnd(_ steps: [DemoStep]) {
        let expectations = steps.flatMap(\.expectations)
        let met = expectations.filter(\.held).count
        for step in steps {
            for expectation in step.expectations where !expectation.held {
                Terminal.talk("cordon: not met in \(step.name): \(expectation.what) (seen: \(expectation.seen))")
            }
        }
        Terminal.data("\(met) of \(expectations.count) expectations met")
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? value.text()
    }
}
