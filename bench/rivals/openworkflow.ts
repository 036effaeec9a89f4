import { answerCalls } from '../processes/answer-calls.ts'
import { Ends, load, runInLanes } from './lanes.ts'

const { OpenWorkflow } = await load('openworkflow')
const { BackendSqlite } = await load('openworkflow/sqlite')

interface Step {
  run(options: { name: string }, code: () => unknown): Promise<unknown>
}

/** Three steps on SQLite in WAL mode, with the `synchronous=FULL` that is its default. */
const ends = new Ends()
let begin: (run: number) => Promise<unknown>

answerCalls({
  async open({ file, slots }: { file: string; slots: number }) {
    const app = new OpenWorkflow({ backend: BackendSqlite.connect(file) })
    const threeSteps = app.defineWorkflow(
      { name: 'three-steps' },
      async ({ input, step }: { input: number; step: Step }) => {
        for (const name of ['one', 'two', 'three']) await step.run({ name }, () => name)
        ends.tell(input)
      },
    )
    begin = (run) => threeSteps.run(run)
    await app.newWorker({ concurrency: slots }).start()
  },
  runMany: (load: { count: number; inFlight: number }) =>
    runInLanes(load, async (run) => {
      const ended = ends.until(run)
      await begin(run)
      await ended
    }),
})
