import ArgumentParser
import CordonAppTools
import Foundation

/// Who signs: a PEM key with its certificate, a PKCS#12 file, or no identity (ad hoc).
struct IdentityOptions: ParsableArguments {
    @Option(help: "An unencrypted RSA or P-256 key in PEM.")
    var key: String?

    @Option(help: "The key's certificate and its chain in PEM.")
    var certificate: String?

    @Option(name: .customLong("p12"), help: "A PKCS#12 file with the key, its certificate and the chain.")
    var pkcs12: String?

    @Option(help: "A file whose first line is the password of the PKCS#12 file; - reads standard input.")
    var passwordFile: String?

    @Flag(name: .customLong("adhoc"), help: "Sign without a certificate, also over a certificate's signature.")
    var isAdHoc = false

    func validate() throws {
        guard (key == nil) == (certificate == nil) else {
            throw ValidationError("--key and --certificate belong together")
        }
        guard [key != nil, pkcs12 != nil, isAdHoc].count(where: \.self) <= 1 else {
            throw ValidationError("give one of --key, --p12 and --adhoc")
        }
        guard passwordFile == nil || pkcs12 != nil else { throw ValidationError("--password-file belongs to --p12") }
    }

    /// What a signer needs to know of these options.
    func signerOptions() throws(AppToolsError) -> CodeSigner.Options {
        var options = CodeSigner.Options()
        options.allowsDowngrade = isAdHoc
        if let key, let certificate {
            options.identity = try CertificateIdentity(
                key: PEMFile.text(key), certificates: PEMFile.text(certificate))
        } else if let pkcs12 {
            let data = try InputFile.map(URL(fileURLWithPath: pkcs12), limit: 1 << 20)
            do {
                options.identity = try CertificateIdentity(pkcs12: data, password: password())
            } catch { throw error.inside(pkcs12) }
        }
        return options
    }

    private func password() throws(AppToolsError) -> String {
        guard let passwordFile else { return "" }
        let text: String
        if passwordFile == "-" {
            do { text = String(decoding: try StandardInput.read(), as: UTF8.self) } catch {
                throw AppToolsError(.malformed, error.message)
            }
        } else {
            text = try PEMFile.text(passwordFile)
        }
        return text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}

/// Reading of PEM files.
enum PEMFile {
    static func text(_ path: String) throws(AppToolsError) -> String {
        String(decoding: try InputFile.map(URL(fileURLWithPath: path), limit: 1 << 20), as: UTF8.self)
    }
}
