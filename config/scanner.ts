/** Address of the scanner. Default: the stand-in of the sandbox on this machine. */
export const scanner = {
  url: process.env.SCANNER_URL ?? `http://127.0.0.1:${process.env.UPSHOT_SANDBOX_PORT || 4747}/scanner/scans`,
}
