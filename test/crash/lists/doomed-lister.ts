import { openPlace } from '../../support/open-place.ts'
import { doom, type Moment } from '../doom.ts'
import { workAll } from './list-scenario.ts'

const [place = '', leases = '[]', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
const [free, held] = JSON.parse(leases)
await workAll(doom(store, moment as Moment, Number(at)), free, held)
await store.close()
