/** Turns a name from the service into a safe name of a local file, at most 200 bytes long. */
export function localName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}/\\:*?"<>|]/gu, '_')
    .replace(/^[.\s]+|[.\s]+$/g, (edge) => '_'.repeat(edge.length))
  return plain === '' ? '_' : cut(plain, 200)
}

/** Cuts at a character: file systems bound the bytes, and half a character is no valid name. */
function cut(text: string, maxBytes: number): string {
  let kept = ''
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > maxBytes) break
    kept += character
  }
  return kept
}
