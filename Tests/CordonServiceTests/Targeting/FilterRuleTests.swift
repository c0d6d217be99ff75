import CordonProtocol
import Testing

@testable import CordonService

/// SRV-TG-07: the language of assignment filters.
@Suite struct FilterRuleTests {
    private static let facts = FilterFacts(
        ApplicationFacts(bundleID: "b", version: "3.10", sdkVersion: "1.0"),
        DeviceDescription(tag: "t", osVersion: "18.2", model: "iPhone15,2"))

    @Test(arguments: [
        #"(app.osVersion -eq "18.2.0")"#, #"app.osVersion -ne "18.3""#, #"app.appVersion -gt "3.9""#,
        #"app.appVersion -ge "3.10" and app.appVersion -le "3.10""#, #"app.OSVersion -LT '19'"#,
        #"app.deviceModel -startsWith "iphone""#, #"app.deviceModel -contains "15""#,
        #"app.deviceModel -notContains "iPad""#, #"app.deviceModel -in ["iPad1,1", "iPhone15,2"]"#,
        #"app.deviceModel -notIn ["iPad1,1"]"#, #"app.deviceManagementType -eq "Unmanaged""#,
        #"app.deviceManufacturer -eq "apple""#, #"app.operatingSystemVersion -startsWith "18.""#,
        #"not (app.deviceModel -eq "x") and (app.osVersion -gt "17" or app.osVersion -lt "1")"#,
        #"app.deviceModel -eq "x" and app.deviceModel -eq "y" or app.osVersion -eq "18.2""#,
    ])
    func `a rule that holds holds, and its opposite does not`(_ text: String) throws {
        #expect(try FilterRule(text).holds(for: Self.facts))
        #expect(try !FilterRule("not (\(text))").holds(for: Self.facts))
    }

    @Test(arguments: [
        "", "app.osVersion", #"app.osVersion = "1""#, #"device.model -eq "x""#, #"app.color -eq "x""#,
        #"app.osVersion -near "1""#, "app.osVersion -eq 1", #"app.osVersion -eq "1"#, #"app.deviceModel -gt "2""#,
        #"app.osVersion -gt "new""#, #"app.osVersion -eq ["1","2"]"#, #"(app.osVersion -eq "1""#,
        #"app.osVersion -eq "1" app"#, "app.osVersion -in []", String(repeating: "(", count: 3_000),
        #"app.osVersion -eq ""# + String(repeating: "1", count: 4_000) + "\"",
    ])
    func `a rule that means nothing is refused`(_ text: String) {
        #expect(throws: ServiceError(.invalid, "")) { try FilterRule(text) }
    }
}
