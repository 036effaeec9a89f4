import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { startPackaged } from './test/support/start-packaged.ts'
import { LONG, SHARED } from './vitest.config.ts'

/** Places of slow files first: one that begins last would run with the other workers idle. */
const SLOW_FIRST = [
  '/test/e2e/',
  '/test/crash/',
  '/test/property/',
  '/test/dashboard/',
  '/test/docs/',
  '/test/examples.test.ts',
]

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW_FIRST.findIndex((folder) => moduleId.includes(folder))
      return place === -1 ? SLOW_FIRST.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

/** Files that hold a time limit against deliveries: they have the machine to themselves. */
const TIMED = ['test/e2e/receiver-floods.test.ts']

export default defineConfig({
  test: {
    ...SHARED,
    // Most of its files wait for processes, and for limits of time.
    maxWorkers: 5,
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        plugins: [startPackaged],
        test: {
          name: 'crowd',
          globalSetup: ['bundle-setup', 'postgres-setup', 'build-page'].map((name) => `test/support/${name}.ts`),
          provide: { isLongRun: true },
          // Both runs test the contract, each with its own stores: see test/contract/describe-stores.ts.
          include: [...LONG, 'test/contract/*.test.ts'],
          exclude: ['node_modules/**', ...TIMED],
        },
      },
      { extends: true, test: { name: 'timed', include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
