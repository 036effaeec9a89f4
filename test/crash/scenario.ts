import { appendFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { App } from '../../src/app/app.ts'
import type { AppParts } from '../../src/app/open-parts.ts'
import { configOf, type Place } from '../support/open-place.ts'
import { NO_SERVICE, testConfig } from '../support/test-config.ts'
import { define } from '../support/workflows.ts'

/** The events that are delivered; each starts both workflows. */
export const EVENT_IDS = ['evt_1', 'evt_2']
export const WORKFLOWS = ['follow-up', 'count']

/** The file with a line for each step function that began in one life of the app. */
export function effectsFile(dataDir: string, life: string): string {
  return join(dataDir, `effects-${life}.txt`)
}

/** The app with two workflows: steps, a sleep, a step that fails once, and steps side by side. */
export function createScenario(
  dataDir: string,
  place: Place,
  life: string,
  openStore: AppParts['openStore'],
): Promise<App> {
  const effect = (run: string, key: string) => appendFileSync(effectsFile(dataDir, life), `${run} ${key}\n`)
  const followUp = define(
    'follow-up',
    { on: 'file.created', retry: { attempts: 3, min: 1, max: 1 } },
    async ({ event, run, step }) => {
      await step.run('read', () => effect(run.id, 'read'), { effect: 'read' })
      await step.run('write', () => effect(run.id, 'write'))
      await step.sleep('nap', 1)
      await step.run('flaky', ({ attempt }) => {
        if (attempt === 1) throw new Error('fails once')
        effect(run.id, 'flaky')
      })
      return event.id
    },
  )
  const count = define('count', ({ run, step }) =>
    Promise.all(['a', 'b'].map((key) => step.run(['side', key], () => effect(run.id, `side[${key}]`)))),
  )
  // Spans go to the collector of the test at once, under the name of the data folder.
  const traces = process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    ? { resource: { 'service.name': basename(dataDir) }, ratio: 1, delayMs: 1 }
    : null
  return App.create(testConfig(dataDir, { service: NO_SERVICE, traces, ...configOf(place) }), {
    random: () => 0.5,
    workflows: [followUp, count],
    openStore,
  })
}
