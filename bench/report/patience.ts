import { cpus } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** Share of all cores that other work may use while we measure. */
const MAX_BUSY = 0.15
const SAMPLE_MS = 150

/** A budget of waiting for other work on the machine to pause. */
export interface Patience {
  leftMs: number
  /** Resolves when the machine is idle, or at once when the budget is used up. */
  waitForCalm(): Promise<void>
}

/** Between two rounds our processes are idle, so all measured load is other work. */
export function createPatience(budgetMs: number): Patience {
  const patience: Patience = {
    leftMs: budgetMs,
    async waitForCalm() {
      while (patience.leftMs > 0) {
        const busy = await sampleBusyShare()
        if (busy <= MAX_BUSY) return
        patience.leftMs -= SAMPLE_MS
      }
    },
  }
  return patience
}

async function sampleBusyShare(): Promise<number> {
  const before = readTimes()
  await wait(SAMPLE_MS)
  const after = readTimes()
  const total = after.total - before.total
  return total === 0 ? 0 : 1 - (after.idle - before.idle) / total
}

function readTimes(): { idle: number; total: number } {
  const times = cpus().map((cpu) => cpu.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  const total = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle)
  return { idle, total }
}
