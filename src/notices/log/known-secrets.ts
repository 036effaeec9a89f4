import { REDACTED } from './redact.ts'

/** Shorter values would redact everyday words. Every secret that we accept is longer. */
const LEAST = 8

/** The secrets of this process: keys of accounts, secrets of endpoints, the sandbox's key. */
export class KnownSecrets {
  #pattern: RegExp | null = null
  /** Characters of the shortest one. */
  #least = 0

  replace(secrets: Iterable<string>): void {
    const forms = new Set([...secrets].flatMap(formsOf).filter((form) => form.length >= LEAST))
    // The longest first, because one form may begin another.
    const words = [...forms]
      .sort((a, b) => b.length - a.length)
      .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    this.#least = Math.min(...[...forms].map((form) => form.length))
    this.#pattern = words.length === 0 ? null : new RegExp(words.join('|'), 'gi')
  }

  /** The text with each known secret replaced. */
  redact(text: string): string {
    return this.#pattern === null || text.length < this.#least ? text : text.replace(this.#pattern, REDACTED)
  }
}

/** A secret as it stands in settings, in URLs and in JSON; the bytes behind `whsec_` count too. */
function formsOf(secret: string): string[] {
  const bare = secret.replace(/^whsec_/, '')
  return [secret, bare].flatMap((form) => [form, encodeURIComponent(form), JSON.stringify(form).slice(1, -1)])
}
