import Testing

@testable import CordonCommand

struct LegacyAliasTests {
    @Test func `the configurator's flags are translated`() {
        #expect(
            LegacyAlias.translate(arguments: ["/usr/bin/CordonConfigurator", "-i", "Info.plist", "-e", "a", "-o", "b"])
                == ["configure", "--names", "intune-compatible", "Info.plist", "--entitlements", "a", "--output", "b"])
        #expect(
            LegacyAlias.translate(arguments: ["CordonConfigurator", "-generateOpenInIcons", "A.app", "-o", "dir"])
                == ["icons", "A.app", "--output", "dir"])
    }

    @Test func `the patcher's flags are translated`() {
        #expect(
            LegacyAlias.translate(arguments: ["CordonFrameworkPatcher", "-i", "A.app", "-resign", "-verbose"])
                == ["patch", "--names", "intune-compatible", "--install", "A.app", "--resign", "--verbose"])
    }

    @Test func `an alias asked for help names its own flags`() throws {
        let patcher = try #require(LegacyAlias.help(arguments: ["/usr/bin/CordonFrameworkPatcher", "-h"]))
        for flag in ["-i", "-r", "-v", "-resign", "-verbose"] { #expect(patcher.contains(" \(flag) "), "\(flag)") }
        let configurator = try #require(LegacyAlias.help(arguments: ["CordonConfigurator"]))
        for flag in ["-i", "-e", "-o", "-generateOpenInIcons"] { #expect(configurator.contains(flag), "\(flag)") }
        #expect(LegacyAlias.help(arguments: ["cordon", "-h"]) == nil)
        #expect(LegacyAlias.help(arguments: ["CordonConfigurator", "-i", "Info.plist"]) == nil)
    }

    @Test func `any other name is no alias`() {
        #expect(LegacyAlias.translate(arguments: ["cordon", "-i"]) == nil)
        #expect(LegacyAlias.translate(arguments: []) == nil)
    }
}
