import { type Db, statement } from '../state/database.ts'
import { draw } from '../state/draw.ts'
import { notFound } from '../state/not-found.ts'
import { type Fault, type FaultInput, type FaultTarget, faultInput } from './fault-rule.ts'

interface FaultRow {
  number: number
  rule: string
  seen: number
  struck: number
}

/**
 * The faults that are set. Each draws from a generator of its own, so a seed and the same calls
 * repeat exactly.
 */
export class Faults {
  readonly #db: Db
  readonly #seed: number

  constructor(db: Db, seed: number) {
    this.#db = db
    this.#seed = seed
  }

  /** Sets a fault. It counts from the next call on. */
  async add(input: FaultInput): Promise<Fault> {
    const rule = faultInput.parse(input)
    const { lastInsertRowid } = statement(this.#db, 'INSERT INTO faults (rule, seen, struck) VALUES (?, 0, 0)').run(
      JSON.stringify(rule),
    )
    return { ...rule, id: `flt_${lastInsertRowid}`, seen: 0, struck: 0 }
  }

  /** In the order of `add`, used up ones included. */
  list(): Fault[] {
    return statement<[], FaultRow>(this.#db, 'SELECT number, rule, seen, struck FROM faults ORDER BY number')
      .all()
      .map(({ number, rule, seen, struck }) => ({
        ...faultInput.parse(JSON.parse(rule)),
        id: `flt_${number}`,
        seen,
        struck,
      }))
  }

  /** Removes a fault. Throws `not_found`. */
  async remove(id: string): Promise<void> {
    const { changes } = statement(this.#db, "DELETE FROM faults WHERE 'flt_' || number = ?").run(id)
    if (changes === 0) notFound('fault', id)
  }

  /** Removes every fault. */
  async clear(): Promise<void> {
    statement(this.#db, 'DELETE FROM faults').run()
  }

  /** Returns the first matching fault whose draw strikes, or null. Counts each match as seen. */
  strike(target: FaultTarget, type = ''): Fault | null {
    const fitting = this.list().filter((fault) => fits(fault, target, type))
    for (const fault of fitting) {
      const isDue = fault.seen >= fault.skip && draw(this.#seed, fault.id, fault.seen) < fault.probability
      statement(this.#db, "UPDATE faults SET seen = seen + 1, struck = struck + ? WHERE 'flt_' || number = ?").run(
        isDue ? 1 : 0,
        fault.id,
      )
      if (isDue) return fault
    }
    return null
  }
}

function fits(fault: Fault, target: FaultTarget, type: string): boolean {
  if (fault.on === '*' ? target === 'delivery' : fault.on !== target) return false
  if (fault.times !== null && fault.struck >= fault.times) return false
  if (fault.type === undefined) return true
  return fault.type.endsWith('*') ? type.startsWith(fault.type.slice(0, -1)) : fault.type === type
}
