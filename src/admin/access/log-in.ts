import type { AdminSession } from '../../core/access/session.ts'
import { hashSecret } from '../../core/access/token.ts'
import { UpshotError } from '../../core/errors.ts'
import { newId, randomWord } from '../../core/ids.ts'
import type { OperatorWrites } from '../../core/store/safety/operator-writes.ts'
import type { Attempts } from './attempts.ts'
import type { AccessStore } from './authenticator.ts'

/** A new session with its two secrets, which nobody sees again. */
interface Login {
  session: AdminSession
  cookie: string
  key: string
}

/**
 * Takes a one-time code. Throws `unauthenticated`, or `too_many_requests` after five wrong codes
 * within a minute.
 */
export async function logIn(
  parts: {
    store: Pick<AccessStore, 'findLoginCode'>
    wrong: Attempts
    /** The writes of the user who logs in. */
    writesOf: (session: AdminSession) => Pick<OperatorWrites, 'startSession'>
  },
  { code, address }: { code: string; address: string },
  now: number,
): Promise<Login> {
  const { store, wrong, writesOf } = parts
  wrong.check(address, now)
  const codeHash = hashSecret(code)
  const known = await store.findLoginCode(codeHash, now)
  if (known !== null) {
    const [cookie, key] = [randomWord(), randomWord()]
    const hashes = { cookieHash: hashSecret(cookie), keyHash: hashSecret(key) }
    const { name, role } = known
    const session = { id: newId('ses', now), name, role, ...hashes, address, createdAt: now, seenAt: now }
    if (await writesOf(session).startSession(session, codeHash)) return { session, cookie, key }
  }
  wrong.count(address)
  throw new UpshotError('unauthenticated', 'The login code is used, over or unknown.', {
    fix: 'Make another one with "upshot dashboard"; it is valid once, for ten minutes.',
  })
}
