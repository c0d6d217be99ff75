import Foundation

/// Whether a signed executable fits the provisioning profile beside it (TL-SG-09).
struct ProfileCheck {
    let profile: URL
    let executable: URL
    let files: PlannedFiles
    let now: Date

    func findings() throws(AppToolsError) -> [Finding] {
        let data = try InputFile.map(profile, limit: 64 << 20)
        let allowed = try naming(profile.path) { () throws(AppToolsError) in try ProvisioningProfile(data) }
        var found: [Finding] = []
        if let expiry = allowed.expiry, expiry <= now {
            found.append(finding("expired on \(PropertyListText.text(expiry))", at: profile))
        }
        if CMSEnvelope.isChanged(data) { found.append(finding("its content changed after it was signed", at: profile)) }
        let code = try files.content(executable)
        let file = try naming(executable.path) { () throws(AppToolsError) in try MachOFile(code) }
        for image in file.slices.compactMap(\.image) {
            guard let signature = try? ImageSignatureCheck.signature(image) else { continue }
            if let leaf = CMSCheck.certificate(of: image), !allowed.certificates.contains(leaf.der) {
                found.append(finding("the certificate is not listed in embedded.mobileprovision", of: image))
            }
            if let first = signature.codeDirectories.first, let team = try? CodeDirectory(first).team,
                !allowed.teams.isEmpty, !allowed.teams.contains(team)
            {
                found.append(finding("embedded.mobileprovision is not for the team \(team)", of: image))
            }
            guard let entitlements = signature.content(SuperBlob.Slot.entitlements),
                let value = try? PropertyList(reading: entitlements).value
            else { continue }
            for key in allowed.denied(value) {
                found.append(finding("embedded.mobileprovision does not allow the entitlement \(key)", of: image))
            }
        }
        return found
    }

    private func finding(_ message: String, of image: MachOImage) -> Finding {
        finding("\(image.cpu): \(message)", at: executable)
    }

    private func finding(_ message: String, at url: URL) -> Finding {
        Finding(url.path, .error, "SG-PROFILE", message)
    }
}
