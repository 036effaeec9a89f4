import type { TestEngine } from './test-engine.ts'

/** Holds the steps that call `work` until the test opens their run's latch. */
export function createLatches({ notices }: TestEngine) {
  const latches = new Map<string, () => void>()
  const started: string[] = []
  let most = 0
  let isOpen = false
  return {
    started,
    get most() {
      return most
    },
    work: (run: string) => {
      started.push(run)
      // A claim publishes nothing, and tests check again after every notice.
      notices.publish({ kind: 'run.queued', count: 0 })
      most = Math.max(most, latches.size + 1)
      return isOpen ? Promise.resolve() : new Promise<void>((resolve) => latches.set(run, resolve))
    },
    open: (run: string) => {
      latches.get(run)?.()
      latches.delete(run)
    },
    /** Lets the steps at work now go on. */
    openAll: () => {
      for (const [run, open] of latches) {
        latches.delete(run)
        open()
      }
    },
    /** Lets all steps go on, those to come too. */
    stayOpen() {
      isOpen = true
      this.openAll()
    },
  }
}
