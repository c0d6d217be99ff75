internal import CordonProtocol
internal import Foundation

extension Registration {
    /// What a registration may add to the audit log in a day by what its app does as often as it likes.
    struct ReportShare: Sendable, Codable, Equatable {
        /// The most records in a day: four check-ins full of news, many times what launch conditions of a used app do.
        static let most = 256

        private let day: Int64
        private var written = 0
        private(set) var leftOut: Int

        /// The share of the day of a moment, by UTC.
        ///
        /// - Parameter leftOut: How many reports of the days before no record has told of.
        init(_ now: Date, leftOut: Int = 0) {
            day = Self.day(of: now)
            self.leftOut = leftOut
        }

        /// Whether this is the share of the day of a moment.
        func isOf(_ now: Date) -> Bool { day == Self.day(of: now) }

        /// Takes room for one record: how many were left out before it, nil where the share is used up.
        mutating func take() -> Int? {
            guard written < Self.most else {
                leftOut += 1
                return nil
            }
            written += 1
            defer { leftOut = 0 }
            return leftOut
        }

        private static func day(of now: Date) -> Int64 { Int64((now.timeIntervalSince1970 / 86_400).rounded(.down)) }
    }
}
