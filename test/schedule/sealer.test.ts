import { expect, onTestFinished, test } from 'vitest'
import { stopRestored } from '../../src/app/engine/start/settle-start.ts'
import type { Notice } from '../../src/core/notices.ts'
import type { Anchor } from '../../src/core/safety/ledger/anchor.ts'
import { verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../src/core/store/store.ts'
import { type Clock, ManualClock } from '../../src/core/time.ts'
import { Sealer } from '../../src/schedule/sealer.ts'
import { deleteFiles } from '../contract/support/delete-files.ts'
import { NOW } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

/**
 * A sealer on a real store, whose clock stands still. `round` moves it and ends with a round.
 * `setBack`: by how much the clock has been set back, for which timers that are set do not wait.
 */
function openSealer(keep: (anchor: Anchor) => void = () => {}, setBack = () => 0) {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const sealerClock: Clock = {
    now: () => clock.now() - setBack(),
    at: (moment, wake) => clock.at(moment + setBack(), wake),
  }
  const heard: Notice[] = []
  const anchors: Anchor[] = []
  const keepAnchor = (anchor: Anchor) => {
    keep(anchor)
    anchors.push(anchor)
  }
  const sealer = new Sealer({ store, clock: sealerClock, publish: (notice) => heard.push(notice), keepAnchor })
  onTestFinished(() => sealer.stop())
  const round = async (ms: number) => {
    clock.set(clock.now() + ms)
    // A round has ended once it has set its next timer.
    while (clock.nextAt() === null) await new Promise((resolve) => setImmediate(resolve))
  }
  return { store, clock, sealer, heard, anchors, round }
}

test('rows are sealed within five seconds, and a fresh process anchors the chain at its first round', async () => {
  const { store, sealer, heard, anchors, round } = openSealer()
  await deleteFiles(store, ['a'])
  sealer.start()
  await round(0)
  expect(await store.readSealState()).toMatchObject({ unsealed: 0, head: { number: 1 } })
  await deleteFiles(store, ['b'])
  await round(4_999)
  expect(await store.readSealState()).toMatchObject({ unsealed: 2 })
  await round(1)
  expect(await store.readSealState()).toMatchObject({ unsealed: 0, head: { number: 2 } })
  const [anchor] = anchors
  expect(anchors).toEqual([{ seal: 1, last: 2, at: NOW, mac: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  expect(heard).toEqual([{ kind: 'effects.anchored', seal: 1, last: 2, mac: anchor?.mac }])
  expect(await verifyLedger(store, { anchors })).toMatchObject({ passed: true, sinceAnchor: 2 })
})

test('the chain is anchored every hour if it has grown, and at once for a decision of a person', async () => {
  const { store, sealer, anchors, round } = openSealer()
  await deleteFiles(store, ['a'])
  sealer.start()
  await round(0)
  await round(3_600_000)
  expect(anchors).toHaveLength(1)
  await deleteFiles(store, ['b'])
  await round(5_000)
  expect(anchors).toHaveLength(2)
  await deleteFiles(store, ['c'])
  await round(5_000)
  expect(anchors).toHaveLength(2)
  await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
  await round(5_000)
  expect(anchors.map(({ seal }) => seal)).toEqual([1, 2, 4])
})

test('more rows than one seal takes are sealed in one round', async () => {
  const { store, sealer, round } = openSealer()
  await deleteFiles(
    store,
    Array.from({ length: 600 }, (_, n) => `f${n}`),
  )
  sealer.start()
  await round(0)
  expect(await store.readSealState()).toMatchObject({ unsealed: 0, head: { number: 2, last: 1_200 } })
})

test('a stop seals what is left, and a sealer that was never started writes nothing', async () => {
  const { store, sealer, clock } = openSealer()
  const other = openSealer()
  for (const each of [store, other.store]) await deleteFiles(each, ['a'])
  await other.sealer.stop()
  expect(await other.store.readSealState()).toMatchObject({ unsealed: 2 })
  sealer.start()
  await sealer.stop()
  expect(await store.readSealState()).toMatchObject({ unsealed: 0 })
  expect(clock.nextAt()).toBeNull()
})

test('an anchor that cannot be kept is a fault, and is tried again', async () => {
  let isBroken = true
  const { store, sealer, heard, anchors, round } = openSealer(() => {
    if (isBroken) throw new Error('a full disk')
  })
  await deleteFiles(store, ['a'])
  sealer.start()
  await round(0)
  expect(heard).toMatchObject([
    { kind: 'fault', where: 'sealing the effect ledger', error: { message: 'a full disk' } },
  ])
  isBroken = false
  await round(5_000)
  expect(anchors).toHaveLength(1)
})

test('a clock that is set back by a year delays the next anchor by no year', async () => {
  let setBack = 0
  const { store, sealer, anchors, round } = openSealer(undefined, () => setBack)
  await deleteFiles(store, ['a'])
  sealer.start()
  await round(0)
  await deleteFiles(store, ['b'])
  setBack = 365 * 86_400_000
  await round(5_000)
  expect(anchors.map(({ at }) => at)).toEqual([NOW, NOW + 5_000 - setBack])
})

test.each(['between two rounds', 'within a round'])(
  'a database that lost its newest seals %s stops all effects, once',
  async (moment) => {
    const [primary, standby] = [openTestStore(), openTestStore()]
    for (const store of [primary, standby]) await deleteFiles(store, ['a'])
    await deleteFiles(primary, ['b'])
    const clock = new ManualClock(NOW)
    let present = primary
    const store: Pick<Store, 'readSealState' | 'sealEffects'> = {
      readSealState: () => present.readSealState(),
      sealEffects: (given) => present.sealEffects(given),
    }
    const news: boolean[] = []
    const stop = async (anchor: Anchor) => {
      news.push(await stopRestored(present, anchor, clock.now()))
      if (moment === 'within a round') present = standby
    }
    const sealer = new Sealer({ store, clock, publish() {}, keepAnchor: null, stopRestored: stop })
    onTestFinished(() => sealer.stop())
    const round = async () => {
      clock.set(clock.now() + 5_000)
      while (clock.nextAt() === null) await new Promise((resolve) => setImmediate(resolve))
    }
    sealer.start()
    await round()
    await round()
    present = standby
    await round()
    expect(await standby.listStops()).toMatchObject([{ kind: 'all', reason: expect.stringContaining('older') }])
    await round()
    expect(news).toEqual([false, true, false])
    expect(await primary.listStops()).toEqual([])
  },
)
