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

  const noPause = async () => {}

  it('captures give the scheme that most of them match', async () => {
    const captures = [
      signed(bytes('{"n":1}')),
      capture({}),
      signed(bytes('{"n":2}')),
      capture({ 'x-sig': hex(SECRET) }),
      capture(signatureOf(BODY, 'a forger knows no secret')),
    ]
    const solution = await solveCaptures(captures, { secrets: [SECRET] }, noPause)
    expect(solution).toMatchObject({ kind: 'match', preset: 'sha256-prefix' })
  })

  it('captures without a match give the cause of the newest one that has a cause', async () => {
    const captures = [capture({}), capture(signatureOf(bytes(BODY, '\n')))]
    const solution = await solveCaptures(captures, { secrets: [SECRET] }, noPause)
    expect(solution).toMatchObject({ kind: 'near', cause: 'body_newline' })
    expect(await solveCaptures([], { secrets: [SECRET] }, noPause)).toEqual({ kind: 'none', tried: 0 })
  })

  it('requests have a turn before each capture that is solved', async () => {
    let turns = 0
    await solveCaptures([capture({}), signed(BODY)], { secrets: [SECRET] }, async () => turns++)
    expect(turns).toBe(2)
  })
})
