import { openPlace } from '../../support/open-place.ts'
import { doom, type Moment } from '../doom.ts'
import { decideAll } from './decision-scenario.ts'

const [place = '', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
await decideAll(doom(store, moment as Moment, Number(at)))
await store.close()
