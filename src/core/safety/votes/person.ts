import { hash } from 'node:crypto'

/** A user of a provider, by a name that people may change and digits of the account there. */
export function nameProvided(name: string, { issuer, subject }: { issuer: string; subject: string }): string {
  return `${name}#${hash('sha256', JSON.stringify([issuer, subject])).slice(0, 16)}`
}

/** The person behind an actor of the audit log: a provider's account is one person by any name. */
export function personOf(actor: string): string {
  return /^web:.*(#[0-9a-f]{16})$/.exec(actor)?.[1] ?? actor
}
