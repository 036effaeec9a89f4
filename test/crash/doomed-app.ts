import { openSharedStore } from '../../src/store/open-store.ts'
import { doom, type Moment } from './doom.ts'
import { createScenario } from './scenario.ts'

const [dataDir = '', place = '', moment = 'asked', at = '0'] = process.argv.slice(2)

const app = await createScenario(dataDir, JSON.parse(place), 'first', async (options) =>
  doom(await openSharedStore(options), moment as Moment, Number(at)),
)
process.on('message', () => app.stop().then(() => process.exit(0)))
app.notices.subscribe('run.completed', ({ run }) => process.send?.({ completed: run }))
process.send?.({ urls: await app.start() })
