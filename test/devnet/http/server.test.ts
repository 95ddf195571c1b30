import { once } from 'node:events'
import { Server } from 'node:http'
import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { CHECK_INTERVAL } from '../../../src/devnet/http/limits.ts'
import { createHttpServer, isJson, Refusal, readBody, send } from '../../../src/devnet/http/server.ts'

type Answer = Parameters<typeof createHttpServer>[0]

async function start(answer: Answer, times?: Parameters<typeof createHttpServer>[2]) {
  const server = createHttpServer(answer, undefined, times)
  onTestFinished(() => server.close(0))
  return { server, url: await server.listen(0, '127.0.0.1') }
}

it('refuses to listen on a port that is taken', async () => {
  const { url } = await start(async () => {})
  const other = createHttpServer(async () => {})
  await expect(other.listen(Number(new URL(url).port), '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await other.close(0)
})

it('names an IPv6 address in its URL, and answers under it', async context => {
  const server = createHttpServer(async (_, response) => send(response, 200, 'text/plain', 'yes'))
  const url = await server.listen(0, '::1').catch(() => null)
  if (url === null) {
    console.warn('skipped 1 test: there is no IPv6')
    return context.skip()
  }
  onTestFinished(() => server.close(0))
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect(await (await fetch(url)).text()).toBe('yes')
})

it('reads a body up to its limit, and tells of each piece before it keeps it', async () => {
  let held = 0
  const { url } = await start(async (request, response) => {
    const body = await readBody(request, 5, length => {
      held += length
      if (request.url === '/full') throw new Refusal(503, 'full')
    }).catch(error => error.message)
    send(response, 200, 'text/plain', `${body} ${isJson(request)}`)
  })
  const post = async (body: string, path = '', type = 'text/plain') =>
    (await fetch(`${url}${path}`, { method: 'POST', body, headers: { 'Content-Type': type } })).text()
  expect(await post('12345')).toBe('12345 false')
  expect(await post('ä23', '', 'Application/JSON; charset=utf-8')).toBe('ä23 true')
  expect(held).toBe(9)
  expect(await post('123456')).toBe('null false')
  expect(held).toBe(9)
  expect(await post('1', '/full')).toBe('full false')
})

it('closes the connection if the answer fails, or after half of it', async () => {
  const { url } = await start(async (request, response) => {
    if (request.url !== '/cut') throw new Error('a mistake')
    send(response, 200, 'text/plain', '12345678', { 'X-Half': 'yes' }, true)
  })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  const cut = await fetch(`${url}/cut`)
  expect(cut.headers.get('X-Half')).toBe('yes')
  await expect(cut.text()).rejects.toThrow()
})

it('answers what is pending when it closes, and cuts off the rest after the grace', async () => {
  const answered: (() => void)[] = []
  const { server, url } = await start(async (_, response) => {
    await new Promise<void>(resolve => answered.push(resolve))
    send(response, 200, 'text/plain', 'late')
  })
  const pending = [fetch(url), fetch(url)]
  const idle = connect(Number(new URL(url).port), '127.0.0.1')
  await once(idle, 'connect')
  while (answered.length < 2) await new Promise(resolve => setImmediate(resolve))
  const closed = server.close(200)
  answered[0]?.()
  const texts = await Promise.allSettled(pending.map(async response => (await response).text()))
  expect(texts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await closed
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

it('closes the connections of clients that send no headers, half of them, or half a body', async () => {
  // Less than the real times, so that the test need not wait for them.
  const times = { headers: 100, request: 300, check: CHECK_INTERVAL }
  const { url } = await start(async (request, response) => {
    await readBody(request, 100)
    send(response, 200, 'text/plain', 'yes')
  }, times)
  const half = ['', 'POST / HTTP/1.1\r\nHost: a', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234']
  const { port, hostname } = new URL(url)
  const ended = half.map(text => {
    const socket = connect(Number(port), hostname)
    socket.write(text)
    socket.resume()
    return once(socket, 'close')
  })
  expect(await Promise.all(ended)).toHaveLength(3)
})

it('gives a client 10 s for the headers, and 30 s for a whole request and for reading on', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listen.mockRestore())
  let untilRead: number | undefined
  const { url } = await start(async (_, response) => {
    send(response, 200, 'text/plain', 'yes')
    untilRead = response.socket?.timeout
  })
  await (await fetch(url)).text()
  expect(listen.mock.contexts).toMatchObject([{ headersTimeout: 10_000, requestTimeout: 30_000 }])
  expect([CHECK_INTERVAL, untilRead]).toEqual([1000, 30_000])
})
