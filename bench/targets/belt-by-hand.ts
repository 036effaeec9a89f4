import Database from 'better-sqlite3'
import { answerCalls } from '../processes/answer-calls.ts'
import { FinishLine } from './finish-line.ts'
import { listenByHand } from './hand-written.ts'

/**
 * The belt written by hand for one workflow, with the same group commit at `synchronous=FULL`. It
 * has no leases, retries, timeouts, replay or second process.
 */
let belt: ReturnType<typeof openBelt>
const finish = new FinishLine()

function openBelt(file: string) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`
    CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL, received_at INTEGER NOT NULL);
    CREATE TABLE step (run INTEGER NOT NULL, name TEXT NOT NULL, output TEXT NOT NULL);
  `)
  const addEvent = db.prepare<[string, string, number]>('INSERT OR IGNORE INTO event VALUES (?, ?, ?)')
  const addStep = db.prepare<[number, string, string]>('INSERT INTO step VALUES (?, ?, ?)')
  const commit = createGroupCommit(db)
  return {
    /** Row of the event, which is its run's id too; null for a known event. */
    addEvent: (id: string, body: string) =>
      commit(() => {
        const { changes, lastInsertRowid } = addEvent.run(id, body, Date.now())
        return changes === 0 ? null : Number(lastInsertRowid)
      }),
    addStep: (run: number, name: string, output: unknown) =>
      commit(() => addStep.run(run, name, JSON.stringify(output))),
  }
}

/** Returns a function that runs a write in the next commit and resolves after it. */
function createGroupCommit(db: Database.Database) {
  let waiting: (() => () => void)[] = []
  const commitAll = db.transaction((writes: typeof waiting) => writes.map((write) => write()))
  const flush = () => {
    const writes = waiting
    waiting = []
    for (const settle of commitAll.immediate(writes)) settle()
  }
  return <T>(write: () => T): Promise<T> =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(() => {
        const result = write()
        return () => resolve(result)
      })
    })
}

/** Resolves once the event is stored; its run goes on in the background. */
async function keep(id: string, body: string): Promise<void> {
  finish.delivered()
  const run = await belt.addEvent(id, body)
  if (run !== null) void runSteps(run)
}

async function runSteps(run: number): Promise<void> {
  const one = 1
  await belt.addStep(run, 'one', one)
  const two = one + 1
  await belt.addStep(run, 'two', two)
  await belt.addStep(run, 'three', two + 1)
  finish.passed()
}

answerCalls({
  open({ file }: { file: string }): Promise<string> {
    belt = openBelt(file)
    return listenByHand(keep)
  },
  /** Runs per second with `inFlight` at once. Counts the steps only: no event is stored. */
  async runMany({ count, inFlight }: { count: number; inFlight: number }) {
    const startedAt = performance.now()
    let left = count
    const runNext = async (): Promise<void> => {
      while (left-- > 0) await runSteps(left)
    }
    await Promise.all(Array.from({ length: inFlight }, runNext))
    return { runsPerSecond: count / ((performance.now() - startedAt) / 1_000) }
  },
  ...finish.calls,
})
