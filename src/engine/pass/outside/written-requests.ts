import { SAFE_METHODS } from './undeclared.ts'

const END_OF_HEAD = '\r\n\r\n'

/**
 * Judges what is written to one connection. Requests of HTTP/1.1 that change nothing, and have no
 * body, are all that it lets through, whichever library writes them.
 */
export class WrittenRequests {
  /** The head of the request that is being written. */
  #head = ''

  /** The method of a request that may change something; `bytes`: no request; null: neither. */
  judge(text: string): string | null {
    let rest = this.#head + text
    this.#head = ''
    while (rest !== '') {
      const [method] = /^[A-Z]+(?= )/.exec(rest) ?? []
      if (method !== undefined && !SAFE_METHODS.has(method)) return method
      if (method === undefined && !mayBecomeSafe(rest)) return 'bytes'
      const end = rest.indexOf(END_OF_HEAD)
      if (end === -1) {
        this.#head = rest
        return null
      }
      rest = rest.slice(end + END_OF_HEAD.length)
    }
    return null
  }
}

/** A method may come in pieces. */
function mayBecomeSafe(beginning: string): boolean {
  return [...SAFE_METHODS].some((method) => method.startsWith(beginning))
}
