import Cordon
import CordonPolicy
import Foundation
import Testing

/// SDK-RS-06, SDK-CA-05, SRV-CI-010: each in a process of its own, since a process has one language.
@Suite struct LanguageTests {
    /// What a person may read, whatever happens: a denial, every end of a remediation, every next step, and the word about a restart.
    private static func texts(in language: String?) async throws -> [String] {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        // What is read before the start settles nothing, as a cover or the reason of a prompt.
        #expect(AppProtection.restartMessage.hasPrefix("Your organisation now protects"))
        let protection = try await device.start { $0.language = language }
        // Who starts another in the same process does not mix two languages.
        _ = try await device.start { $0.language = language == "en" ? "de" : "en" }
        await protection.enroll(device.account)
        let denial = protection.decision(for: Question(.print, owner: .managed(device.account.id)))
        let results = RemediationResult.Status.allCases.map {
            RemediationResult(account: device.account.id, status: $0)
        }
        return denial.reasons.map(\.message) + [AppProtection.restartMessage]
            + results.flatMap { [$0.title, $0.message] }
            + NextStep.allCases.map(\.advice)
    }

    @Test
    func `an app shown in German says all that people read in German, also after a text before and another start`()
        async
    {
        await #expect(processExitsWith: .success) {
            let texts = try await Self.texts(in: "de-AT")
            #expect(texts.first == "Organisationsdaten dürfen nicht gedruckt werden.")
            #expect(texts.contains { $0.hasPrefix("Ihre Organisation schützt jetzt ihre Daten in dieser App.") })
            #expect(
                texts.contains("Geschützt")
                    && !texts.contains { $0.contains("our organisation") || $0.hasPrefix("The ") })
        }
    }

    @Test(arguments: ["en", "fr-CH", "C", ""])
    func `an app shown in another language says it in English`(language: String) async {
        await #expect(processExitsWith: .success) { [language] in
            let texts = try await Self.texts(in: language)
            #expect(texts.first == "Organisation data may not be printed.")
            #expect(texts.contains { $0.hasPrefix("Your organisation now protects its data in this app.") })
            #expect(texts.contains("Protected") && !texts.contains("Geschützt"))
        }
    }
}
