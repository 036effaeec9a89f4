import { z } from 'zod'
import { fileRequest, listRequest } from './files-query.ts'
import {
  alternativeDetailsSchema,
  alternativeDownloadUrlSchema,
  alternativeErrorSchema,
  alternativeListSchema,
  alternativelySucceeds,
  deletedSchema,
  detailsSchema,
  downloadUrlSchema,
  errorSchema,
  eventSchema,
  listSchema,
  succeeds,
} from './wire-schema.ts'

/** Error statuses of every operation (section 7.3; 404 and 502 are assumptions). */
const REFUSALS = {
  400: 'Invalid request parameters; the message says which',
  401: 'Missing, invalid or expired credentials',
  403: 'Insufficient permissions',
  404: 'The resource does not exist',
  429: 'Rate limit exceeded; see X-RateLimit-* and Retry-After',
  502: 'Error from the underlying cloud service',
}

/** The OpenAPI 3.1 document of the Files API and its webhooks, made from their schemas. */
export function describeOpenapi(baseUrl: string): object {
  const onFile = parametersOf(fileRequest, { fileId: 'path' })
  return {
    openapi: '3.1.0',
    info: {
      title: 'File migration service: sandbox',
      version: '1',
      description: 'A reply has one of two forms. X-Sandbox-Assumed lists the undocumented points that it assumes.',
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    paths: {
      '/files': {
        get: operation('listFiles', 'List files', parametersOf(listRequest, {}), [listSchema, alternativeListSchema]),
      },
      '/files/list': {
        post: {
          ...operation('listFilesAlternatively', 'List files, alternative form', [], [alternativeListSchema]),
          requestBody: { required: true, content: jsonOf([listRequest], 'input') },
        },
      },
      '/files/{fileId}': {
        get: operation('getFile', 'Get file details', onFile, inBothForms(detailsSchema, alternativeDetailsSchema)),
        delete: operation('deleteFile', 'Delete file', onFile, inBothForms(deletedSchema, deletedSchema)),
      },
      '/files/{fileId}/download': {
        get: operation(
          'getDownloadUrl',
          'Get download URL',
          onFile,
          inBothForms(downloadUrlSchema, alternativeDownloadUrlSchema),
        ),
      },
    },
    webhooks: {
      event: {
        post: {
          summary: 'An event of the account',
          requestBody: { required: true, content: jsonOf([eventSchema], 'output') },
          responses: { '2XX': { description: 'Accepted' } },
        },
      },
    },
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  }
}

function inBothForms(primary: z.ZodType, alternative: z.ZodType): z.ZodType[] {
  return [succeeds(primary), alternativelySucceeds(alternative)]
}

function operation(operationId: string, summary: string, parameters: object[], replies: z.ZodType[]): object {
  const refusals = Object.entries(REFUSALS).map(([status, description]) => {
    return [status, { description, content: jsonOf([errorSchema, alternativeErrorSchema], 'output') }]
  })
  return {
    operationId,
    summary,
    parameters,
    responses: { 200: { description: summary, content: jsonOf(replies, 'output') }, ...Object.fromEntries(refusals) },
  }
}

/** A parameter per field; in the query string unless `places` says otherwise. */
function parametersOf(schema: z.ZodObject, places: Record<string, 'path'>): object[] {
  const { properties = {}, required = [] } = jsonSchema(schema, 'input')
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: places[name] ?? 'query',
    required: required.includes(name),
    schema: field,
  }))
}

function jsonOf(schemas: z.ZodType[], io: 'input' | 'output'): object {
  const forms = schemas.map((schema) => jsonSchema(schema, io))
  return { 'application/json': { schema: forms.length === 1 ? forms[0] : { oneOf: forms } } }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' })
  return rest
}
