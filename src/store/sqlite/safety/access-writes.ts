import type { AccessWrites } from '../../../core/store/safety/access.ts'
import type { AccessTable } from '../../tables/safety/access-table.ts'
import type { IdempotencyTable } from '../../tables/safety/idempotency-table.ts'
import type { GroupCommit } from '../database/group-commit.ts'

/** The writes of sessions, tokens and answers that are kept for a repeated request. */
export function accessWrites(
  { access, keptAnswers }: { access: AccessTable; keptAnswers: IdempotencyTable },
  commit: Pick<GroupCommit, 'write'>,
): AccessWrites {
  return {
    beginAnswer: ({ caller, key, request }, now) => commit.write(() => keptAnswers.begin(caller, key, request, now)),
    endAnswer: ({ caller, key }, answer) => commit.write(() => keptAnswers.end(caller, key, answer)),
    saveLoginCode: (code) => commit.write(() => access.saveCode(code)),
    startSession: (session, codeHash) => commit.write(() => access.startSession(session, codeHash)),
    touchSession: (id, now) => commit.write(() => access.touchSession(id, now)),
    endSession: (id) => commit.write(() => access.endSession(id)),
    saveToken: (token) => commit.write(() => access.saveToken(token)),
    touchToken: (id, now) => commit.write(() => access.touchToken(id, now)),
    revokeToken: (id, now) => commit.write(() => access.revokeToken(id, now)),
  }
}
