import { eventBody } from '../../support/fixtures.ts'
import { opensslMac } from '../../support/sign.ts'

export const NOW = Date.UTC(2026, 5, 1, 12)
export const SECONDS = String(NOW / 1_000)
export const SECRET = 'a-canary-secret-of-the-solver-42'
export const BODY = Buffer.from(
  eventBody('evt_1', 'file.created', { file: { id: 'fil_1', name: 'Grüße/ü.txt' }, n: 1.5 }),
)

export const bytes = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)))
export const hex = (key: string | Buffer, signed: Buffer = BODY) => opensslMac('sha256', key, signed).toString('hex')

export const signatureOf = (signed: Buffer, key: string | Buffer = SECRET) => ({
  'X-Service-Signature': hex(key, signed),
})
