import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { solveCaptures } from '../../../src/core/solver/solve-scheme.ts'
import { BODY, bytes, hex, NOW, SECRET, signatureOf } from '../support/solver-fixtures.ts'

describe('solveCaptures', () => {
  const capture = (headers: Record<string, string>, body: Buffer = BODY) => ({
    id: newId('dlv', NOW),
    endpointId: 'end_1',
    receivedAt: NOW,
    headers,
    body,
  })
  const signed = (body: Buffer) => capture({ 'x-sig': `sha256=${hex(SECRET, body)}` }, body)

  it('captures give the scheme that most of them match', () => {
    const captures = [
      signed(bytes('{"n":1}')),
      capture({}),
      signed(bytes('{"n":2}')),
      capture({ 'x-sig': hex(SECRET) }),
      capture(signatureOf(BODY, 'a forger knows no secret')),
    ]
    expect(solveCaptures(captures, { secrets: [SECRET] })).toMatchObject({ kind: 'match', preset: 'sha256-prefix' })
  })

  it('captures without a match give the cause of the newest one that has a cause', () => {
    const captures = [capture({}), capture(signatureOf(bytes(BODY, '\n')))]
    expect(solveCaptures(captures, { secrets: [SECRET] })).toMatchObject({ kind: 'near', cause: 'body_newline' })
    expect(solveCaptures([], { secrets: [SECRET] })).toEqual({ kind: 'none', tried: 0 })
  })
})
