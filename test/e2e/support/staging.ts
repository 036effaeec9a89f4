import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { App } from '../../../src/app/app.ts'
import type { EffectsMode } from '../../../src/core/safety/stop.ts'
import type { Config } from '../../../src/project/config/load-config.ts'
import { awaitRuns } from '../../support/await-runs.ts'
import { listen } from '../../support/listen.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { hearNotices } from '../../support/test-app.ts'
import { testConfig, WEBHOOK_SECRET } from '../../support/test-config.ts'
import { startService } from './served-app.ts'

/** A server that notes each request. */
async function openCanary() {
  const reached: string[] = []
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`)
    response.end('ok')
  })
  return { reached, url: `${await listen(server)}/` }
}

/**
 * A project with one workflow, a service with two files, and a canary. `run`: the workflow's code,
 * in which `U` is the address of the canary.
 */
export async function openStaging(run: string, { config = {} }: { config?: Partial<Config> } = {}) {
  const { sandbox, service } = await startService({ plan: 'enterprise', clock: 'real' })
  const canary = await openCanary()
  const storage = sandbox.storage('storage_a')
  for (const path of ['/in/a.txt', '/in/b.txt']) await storage.put(path, 'bytes')
  const listFiles = () => storage.list().map(({ path, size }) => ({ path, size }))
  const dataDir = tempFolder()
  const workflowsDir = join(dataDir, 'workflows')
  mkdirSync(workflowsDir)
  const write = (code: string) => {
    const text = `import { defineWorkflow } from '${DOOR}'
const U = '${canary.url}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: ${code} })`
    writeFileSync(join(workflowsDir, 'tidy.workflow.ts'), text)
  }
  write(run)
  /** Starts an app with this mode. */
  const start = async (effects: EffectsMode, more: Partial<Config> = {}) => {
    const { notices, heard } = hearNotices()
    const given = testConfig(dataDir, { service, workflowsDir, effects, ...config, ...more })
    const app = await App.create(given, { notices })
    onTestFinished(() => app.stop())
    const { endpoints, admin } = await app.start()
    const runs = (fits: Parameters<typeof awaitRuns>[1]) => awaitRuns({ store: app.store, notices }, fits)
    const deliver = (event: string, type?: string) =>
      postDelivery(endpoints.service ?? '', WEBHOOK_SECRET, event, undefined, type)
    return { app, admin, heard, notices, deliver, runs, config: given }
  }
  /** The requests of the service that were no reads. */
  const listActs = () =>
    sandbox.audit.requests().filter(({ operation }) => !/^files\.(get|list)$/.test(operation ?? ''))
  return { start, write, listFiles, listActs, canary, sandbox, apiKey: service.apiKey, dataDir }
}
