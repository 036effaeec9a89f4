import { expect, test } from 'vitest'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { type Happening, LossyService } from './support/lossy-service.ts'

/** Events that the service has; a full proof sets 10000. */
const EVENTS = Number(process.env.UPSHOT_SWEEP_EVENTS ?? 500)
const HOURS = 10
const HOUR = 3_600_000
const MINUTE = 60_000

/** Complete sweeps within the life of a file, after which one has seen it whatever shifted. */
const SEEN_AFTER = 3

test('of events that a service drops, delays and repeats, each loss is found or not knowable', async () => {
  const service = await LossyService.open()
  await happen(service)
  const before = service.happenings()
  expect(before.length).toBeGreaterThanOrEqual(EVENTS)
  const findings = await service.store.listFindings({ limit: 100_000 })
  const lost = before.filter(({ isDelivered }) => !isDelivered)
  const isLost = new Set(lost.map(nameOf))
  expect(lost.length).toBeGreaterThan(EVENTS / 20)
  expect(findings.filter((each) => each.state !== 'unclear' && !isLost.has(nameOf(each)))).toEqual([])
  const isFound = new Set(findings.map(nameOf))
  const lives = livesOf(before)
  expect(lost.filter((each) => !isFound.has(nameOf(each)) && isKnowable(service, lives, each))).toEqual([])
  // A tenth of the plan of 1,000 requests a minute.
  expect(service.busiestMinute).toBeLessThanOrEqual(100)
  expect(service.sandbox.audit.findings()).toEqual([])

  const made = findings.filter(({ state }) => state === 'made')
  expect(made.length).toBeGreaterThan(lost.length / 5)
  for (const each of [...made, ...before.filter(({ isDelivered }) => isDelivered)])
    expect(service.executed.get(nameOf(each))?.size, nameOf(each)).toBe(1)

  await service.sandbox.faults.clear()
  for (const { event } of lost) await service.sandbox.deliveries.resend(event)
  await service.settle()
  const executions = before.map((each) => service.executed.get(nameOf(each))?.size)
  expect(executions.filter((count) => count !== 1)).toEqual([])
  expect(await service.store.listRuns({ status: 'skipped', limit: 100_000 })).toHaveLength(made.length)
  const events = new Map(lost.map((each) => [nameOf(each), each.event]))
  const linked = await service.store.listFindings({ states: ['made'], limit: 100_000 })
  for (const each of linked) expect(each.lateEvent).toBe(events.get(nameOf(each)))
})

/** Files come, go and move, also while pages are read; deliveries get lost, late and doubled. */
async function happen(service: LossyService): Promise<void> {
  const random = seededRandom(23)
  const storage = service.sandbox.storage('storage_a')
  const paths: string[] = []
  let [count, moves, events] = [0, 0, 0]
  const take = () => paths.splice(Math.floor(random() * paths.length), 1)[0]
  const change = async () => {
    events += 1
    const gone = paths.length > EVENTS / 6 && random() < 0.48 ? take() : undefined
    if (gone !== undefined) return storage.remove(gone)
    const path = `/in/${count++}.txt`
    await storage.put(path, 'x')
    paths.push(path)
  }
  for (let n = 0; n < 200; n++) await change()
  const { faults, webhooks } = service.sandbox
  await faults.add({ on: 'delivery', probability: 0.06, drop: true })
  await faults.add({ on: 'delivery', probability: 0.1, delayMs: 20 * MINUTE })
  await faults.add({ on: 'delivery', probability: 0.05, delayMs: 70 * MINUTE })
  await faults.add({ on: 'delivery', probability: 0.1, duplicate: true })
  await faults.add({ on: 'delivery', probability: 0.1, reorder: true })
  await faults.add({ on: 'files.list', probability: 0.02, status: 503 })
  await faults.add({ on: 'files.get', probability: 0.02, reset: true })
  const changes = EVENTS / (HOURS * 15)
  const [webhook] = webhooks.list()
  for (let hour = 0; hour < HOURS; hour++) {
    // An hour without the webhook loses everything at once.
    await webhooks.enable(webhook?.id ?? '', hour !== 4)
    // Every second hour, pages shift while they are read.
    const shifts = hour % 2 === 0
    service.onRequest = async () => {
      if (shifts) await change()
    }
    for (let n = 0; n < 5; n++) {
      const from = take()
      if (from === undefined) continue
      const to = `/moved/${moves++}.txt`
      await service.move(from, to)
      paths.push(to)
    }
    await storage.rescan()
    let owed = 0
    await service.run(HOUR, async () => {
      for (owed += changes; owed >= 1; owed -= 1) await change()
    })
  }
  while (events < EVENTS) await change()
  service.onRequest = async () => {}
  await service.run(6 * HOUR)
}

function nameOf({ type, file }: { type: string; file: string }): string {
  return `${type} ${file}`
}

interface Life {
  born: number
  died: number
}

function livesOf(happenings: readonly Happening[]): Map<string, Life> {
  const lives = new Map<string, Life>()
  for (const { type, file, at } of happenings)
    if (type === 'file.created') lives.set(file, { born: at, died: Infinity })
    else lives.set(file, { born: lives.get(file)?.born ?? 0, died: at })
  return lives
}

/** Whether sweeps after the first one saw the file, and could tell of it. */
function isKnowable({ complete }: LossyService, lives: Map<string, Life>, { type, file }: Happening): boolean {
  const { born, died } = lives.get(file) ?? { born: 0, died: 0 }
  const [first] = complete
  const within = complete.filter(({ startedAt, endedAt }) => startedAt > born && endedAt < died).length
  const isNew = born > (first?.endedAt ?? Infinity)
  return within >= SEEN_AFTER && (type === 'file.deleted' || isNew)
}
