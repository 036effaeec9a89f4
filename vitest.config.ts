import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { SecondTries } from './test/support/second-tries.ts'
import { keepTempInMemory } from './test/support/temp-in-memory.ts'

keepTempInMemory()

/** Suites that start a process for each crash or guide, or a browser: `npm run test:long`. */
export const LONG = [
  'test/admin/{every-operation,service/*}.test.ts',
  'test/app/backtest/{line-mutants,samples}.test.ts',
  'test/app/engine/run-planner.test.ts',
  'test/app/preview/{lasting-process,plan-is-dry,reads}.test.ts',
  'test/cli/commands/app/{dev,rehearse/*}.test.ts',
  'test/cli/commands/runs/test.test.ts',
  'test/cli/commands/safety/approvals-ahead.test.ts',
  'test/cli/commands/safety/plan/{plan,plan-save}.test.ts',
  'test/cli/commands/safety/backtest/!(judge-backtest).test.ts',
  'test/crash/**/*.test.ts',
  'test/examples.test.ts',
  'test/docs/{api,guides,site,tutorial}.test.ts',
  'test/e2e/{author-code,burst,callbacks,effects-plan,effects-plan-crash,first-hour,harmful-modules,hidden-variables,lost-database,native-code,old-and-new,package,prometheus,quarantine,receiver-floods,restored-backup,roles,rotation,stalled-log}.test.ts',
  'test/e2e/postgres/*.test.ts',
  'test/dashboard/{acts,doctor,event-page,files,foreign-pages,in-browser,keyboard,live,logins,look-ahead,matches,planned,schedules,server-room,states}.test.ts',
  'test/packaging/create.test.ts',
  'test/property/{flow,folds,safety}.test.ts',
  'test/property/pass-cache.test.ts',
  'test/sandbox/pages/in-browser.test.ts',
  'test/store/{move,postgres}/**/*.test.ts',
  'test/testing/on-postgres.test.ts',
  'test/upgrades/*.test.ts',
]

/**
 * Files that put other modules in the place of real ones, which the files after them must not meet.
 */
const ISOLATED = ['test/receive/verify-first.test.ts', 'test/files/disk/shared-part.test.ts']

const IGNORED = ['node_modules/**', ...LONG]

/** Settings of both runs, the short and the long one. */
export const SHARED = {
  // By itself Vitest leaves one of two cores idle, and much here waits for disks and processes.
  maxWorkers: 3,
  reporters: [...configDefaults.reporters, new SecondTries()],
  // Vitest gives up after a second, in which a busy machine may do nothing at all.
  expect: { poll: { timeout: 30_000 } },
  // A process that a test starts loads compiled code: half of the time that a command takes.
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') },
}

export default defineConfig({
  test: {
    ...SHARED,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts', 'workflows/**/*.test.ts'],
          exclude: [...IGNORED, ...ISOLATED],
          // A process of its own for each file costs as much as most of the tests in it.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED, exclude: IGNORED } },
    ],
  },
})
