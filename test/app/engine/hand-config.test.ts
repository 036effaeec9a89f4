import { expect, test } from 'vitest'
import { type EngineConfig, handConfig } from '../../../src/app/engine/engine-config.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { PLAN } from '../../schedule/sweep/support/sweep-world.ts'

test('another thread is handed every setting of the engine, and no secret', () => {
  const given: Required<Omit<EngineConfig, 'beatMs'>> = {
    workflowsDir: '/w',
    slots: 3,
    drainMs: 7,
    dev: true,
    watchEffects: true,
    trustsReads: true,
    guardPolicy: DEFAULT_POLICY,
    reconcile: [PLAN],
    files: { burst: 9 },
    suspects: 'only',
    aloneMs: 7,
    parent: 7,
    traces: null,
    effects: 'plan',
    limits: { steps: 7 },
    outside: { keys: ['k'], processes: ['p'] },
  }
  expect(handConfig({ ...given, secretKey: 'never' } as EngineConfig)).toEqual(given)
})
