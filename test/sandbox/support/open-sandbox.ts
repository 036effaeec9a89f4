import { test as base, onTestFinished } from 'vitest'
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/index.ts'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A sandbox with a manual clock and no rate limit, stopped at the end of the test. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ dir: tempFolder(), clock: 'manual', plan: 'unlimited', ...options })
  onTestFinished(() => sandbox.stop())
  return sandbox
}

/** A test names the sandbox that it uses. */
export const test = base.extend('sandbox', () => openSandbox())
