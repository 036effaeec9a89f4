import fc from 'fast-check'
import { expect, inject } from 'vitest'
import type { EffectRecord } from '../../src/core/safety/effect.ts'
import type { Seal, SealKey } from '../../src/core/safety/ledger/seal.ts'
import { type LedgerReads, verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { deleteFiles } from './support/delete-files.ts'

const RUNS = inject('isLongRun') === true ? 10_000 : 500

interface Ledger {
  rows: EffectRecord[]
  seals: Seal[]
}

/** A store that gives these rows and seals. */
function readsOf({ rows, seals }: Ledger, keys: SealKey[]): LedgerReads {
  return {
    listEffects: async ({ after, limit }) => rows.filter(({ seq }) => seq > after).slice(0, limit),
    listSeals: async ({ after, limit }) => seals.filter(({ number }) => number > after).slice(0, limit),
    listSealKeys: async () => keys,
    listLostBegins: async () => [],
    listVotes: async () => [],
    findApproval: async () => null,
    listApprovalItems: async () => [],
    listApprovers: async () => [],
  }
}

/** Another value of a column, of the same type where it has one. */
function differ(value: unknown, salt: string): unknown {
  if (typeof value === 'number') return value + 1 + salt.length
  if (typeof value === 'string') return value === `x${salt}` ? 'y' : `x${salt}`
  return salt.length % 2 === 0 ? salt : salt.length
}

/** A copy with one edit. A number that changes takes the row to its new place. */
function edit(ledger: Ledger, { where, at, column, kind, salt }: Edit): Ledger {
  const copy = { rows: ledger.rows.map((row) => ({ ...row })), seals: ledger.seals.map((seal) => ({ ...seal })) }
  const list = copy[where] as unknown as Record<string, unknown>[]
  const index = at % list.length
  const entry = list[index] as Record<string, unknown>
  const other = list[(index + 1) % list.length] as Record<string, unknown>
  const id = where === 'rows' ? 'seq' : 'number'
  if (kind === 'remove') list.splice(index, 1)
  else if (kind === 'insert') list.push({ ...entry, [id]: Number(entry[id]) - 0.5 })
  else if (kind === 'swap') [entry[id], other[id]] = [other[id], entry[id]]
  else {
    // The id of the event is read from the event's row; its number is sealed.
    // A row names its event by a number, which another database gives anew. Its id is sealed.
    const names = Object.keys(entry).filter((each) => each !== 'eventSeq')
    const name = names[column % names.length] as string
    entry[name] = differ(entry[name], salt)
  }
  for (const [name, each] of [
    ['seq', copy.rows],
    ['number', copy.seals],
  ] as const) {
    ;(each as unknown as Record<string, number>[]).sort((one, two) => (one[name] ?? 0) - (two[name] ?? 0))
  }
  return copy
}

const edits = fc.record({
  where: fc.constantFrom('rows', 'seals'),
  at: fc.nat(100),
  column: fc.nat(100),
  kind: fc.constantFrom('change', 'change', 'change', 'remove', 'insert', 'swap'),
  salt: fc.string({ maxLength: 4 }),
})
type Edit = typeof edits extends fc.Arbitrary<infer T> ? T : never

describeStores((test) => {
  test('no random edit of a sealed row or of a seal stays unseen', async ({ store }) => {
    for (const names of ['ab', 'c', 'def']) {
      await deleteFiles(store, [...names])
      await store.sealEffects({ now: NOW, limit: 100 })
    }
    const ledger = {
      rows: await store.listEffects({ after: 0, limit: 100 }),
      seals: await store.listSeals({ limit: 100 }),
    }
    const head = ledger.seals.at(-1) as Seal
    const anchors = [{ seal: head.number, last: head.last, at: NOW, mac: head.mac }]
    const keys = await store.listSealKeys()
    expect(await verifyLedger(readsOf(ledger, keys), { anchors })).toMatchObject({ passed: true, sealed: 12 })
    await fc.assert(
      fc.asyncProperty(edits, async (change) => {
        const report = await verifyLedger(readsOf(edit(ledger, change), keys), { anchors })
        return !report.passed
      }),
      { numRuns: RUNS },
    )
  })
})
