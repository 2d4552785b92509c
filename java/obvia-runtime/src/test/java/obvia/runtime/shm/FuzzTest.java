package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.Mutations;
import org.junit.jupiter.api.Test;

/** Tests the parsers of a peer's bytes: see {@link Mutations}. */
class FuzzTest {
    @Test
    void randomGreetingsAreReadOrRefused() {
        byte[] good = Segments.Greeting.of(Waiting.ADAPTIVE, true).put(ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN)).array();
        Mutations.of(good).feed(bytes -> {
            ByteBuffer greeting = ByteBuffer.wrap(Arrays.copyOf(bytes, 24)).order(ByteOrder.LITTLE_ENDIAN);
            long area = Segments.Greeting.read(greeting).area();
            assertTrue(area > 0 && area <= FrameLimit.BYTES, "an area of " + area);
        });
    }

    @Test
    void randomRegionNotesAreReadOrRefused() throws Exception {
        long own = ProcessHandle.current().pid();
        try (UnlinkedFile file = UnlinkedFile.of(4096 + Long.BYTES)) {
            ByteBuffer good = ByteBuffer.allocate(AnnouncedFiles.length(-1)).order(ByteOrder.LITTLE_ENDIAN);
            good.putInt(1).putInt(AnnouncedFiles.READ).putLong(4096).putLong(file.number()).putLong(own).putLong(0);
            Regions regions = new Regions();
            Mutations.of(good.array()).feed(bytes -> {
                for (long pid : new long[] {-1, own}) {
                    ByteBuffer note = ByteBuffer.wrap(Arrays.copyOf(bytes, AnnouncedFiles.length(pid))).order(ByteOrder.LITTLE_ENDIAN);
                    AnnouncedFiles.AnnouncedFile read = AnnouncedFiles.read(note, pid);
                    try {
                        regions.admit(1, read);
                    } catch (BadMessageException e) {
                        continue;
                    } catch (RpcException e) {
                        assertTrue(e.result() == Hresult.E_INVALIDARG || e.result() == Hresult.E_FAIL || e.result() == Hresult.E_OUTOFMEMORY, e.toString());
                        continue;
                    }
                    long length = regions.find(Regions.reference(1, 0), false, read.length(), 1, 1).byteSize();
                    assertEquals(read.length(), length);
                    regions.forget(1);
                }
            });
        }
    }

    /** Tests slots that a peer has written. */
    @Test
    void randomMessagesLieInThePeersMemoryOrAreRefused() throws Exception {
        byte[] slot = new byte[Layout.SLOT_SIZE];
        ByteBuffer.wrap(slot).order(ByteOrder.LITTLE_ENDIAN).putLong(4, 3L | 1L << 16 | 8L << 24).putLong(20, 8).putInt(28, 64);
        byte[] inArea = slot.clone();
        inArea[7] = (byte) Layout.IN_AREA;
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            MemorySegment peer = pair.client().memory();
            int[] next = {1};
            Mutations.of(slot, inArea).feed(bytes -> {
                long at = Layout.slot(next[0]);
                MemorySegment.copy(MemorySegment.ofArray(Arrays.copyOf(bytes, Layout.SLOT_SIZE)), 0, peer, at, Layout.SLOT_SIZE);
                Layout.WORD.setRelease(peer, at, next[0]++);
                Window window = pair.server();
                window.receive(Wires.patience());
                assertTrue(window.at >= 0 && window.length >= 0 && window.at + window.length <= window.frame.byteSize(), "a frame at " + window.at);
            });
        }
    }
}
