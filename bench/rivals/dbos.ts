import { answerCalls } from '../processes/answer-calls.ts'
import { load, runInLanes } from './lanes.ts'

const { DBOS } = await load('@dbos-inc/dbos-sdk')

let threeSteps: () => Promise<unknown>

answerCalls({
  async open({ url }: { url: string }) {
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' })
    threeSteps = DBOS.registerWorkflow(
      async () => {
        for (const name of ['one', 'two', 'three']) await DBOS.runStep(async () => name, { name })
      },
      { name: 'threeSteps' },
    )
    await DBOS.launch()
  },
  runMany: (load: { count: number; inFlight: number }) => runInLanes(load, () => threeSteps()),
})
