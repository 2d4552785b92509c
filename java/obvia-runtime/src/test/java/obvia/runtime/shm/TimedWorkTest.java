package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.FileNotFoundException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests work with files whose file system may never answer. */
@Timeout(120)
class TimedWorkTest {
    @Test
    void lateResultsOfFileWorkAreReturnedWhenAvailable() throws Exception {
        var answer = new CountDownLatch(1);
        var work = new TimedWork<>(Duration.ofMillis(1), () -> {
            answer.await();
            return "found";
        });
        for (int attempt = 0; attempt < 3; attempt++) {
            var late = assertThrows(TimedWork.LateException.class, work::await);
            assertEquals("its file system does not respond", late.getMessage());
        }
        answer.countDown();
        String found = null;
        while (found == null) {
            try {
                found = work.await();
            } catch (TimedWork.LateException e) {
                Thread.sleep(1);
            }
        }
        assertEquals("found", found);
    }

    /** A failure after the time limit is not the answer to a later attempt. */
    @Test
    void lateFailuresOfFileWorkAreNotReturned() throws Exception {
        var answer = new CountDownLatch(1);
        var work = new TimedWork<>(Duration.ofMillis(1), () -> {
            answer.await();
            throw new FileNotFoundException();
        });
        assertThrows(TimedWork.LateException.class, work::await);
        answer.countDown();
        while (!work.isStale()) {
            assertThrows(TimedWork.LateException.class, work::await);
        }
        assertThrows(TimedWork.LateException.class, work::await);
    }

    @Test
    void failuresOfFileWorkReachTheCaller() {
        for (Throwable why : new Throwable[] {new FileNotFoundException(), new IllegalStateException(), new AssertionError()}) {
            var work = new TimedWork<>(TimedWork.USUAL, () -> {
                switch (why) {
                    case Exception e -> throw e;
                    default -> throw (Error) why;
                }
            });
            assertSame(why, assertThrows(why.getClass(), work::await));
        }
    }
}
