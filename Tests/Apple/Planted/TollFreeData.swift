// refused: toll-free cast
// The same for the data that comes back.

import Foundation
import Security

func bytes(_ certificate: SecCertificate) -> Data { (SecCertificateCopyData(certificate) as NSData) as Data }
